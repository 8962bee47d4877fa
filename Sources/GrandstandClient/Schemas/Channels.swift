public import Foundation

extension GrandstandClient {
    /// What makes a channel by hand.
    public struct ChannelDraft: Sendable, Hashable, Codable {
        /// Whether APNs stores the newest message for phones that are offline.
        public var storagePolicy: StoragePolicy
        /// What people know it by.
        public var label: String?

        /// What is left out is not said.
        public init(storagePolicy: StoragePolicy, label: String? = nil) {
            self.storagePolicy = storagePolicy
            self.label = label
        }
    }

    /// What takes over a channel made elsewhere.
    public struct ChannelImport: Sendable, Hashable, Codable {
        /// Apple's ID of the channel, as it is.
        public var channelId: String
        /// What people know it by.
        public var label: String?
        /// The organiser's name for the event.
        public var eventKey: String?
        /// With eventKey only: of the audience that it is for; without it the one without a variant.
        public var variant: String?

        /// What is left out is not said.
        public init(channelId: String, label: String? = nil, eventKey: String? = nil, variant: String? = nil) {
            self.channelId = channelId
            self.label = label
            self.eventKey = eventKey
            self.variant = variant
        }
    }

    /// A channel at Apple.
    public struct Channel: Sendable, Hashable, Codable {
        /// The server's ID of it.
        public var id: String?
        /// Apple's ID of the channel, as it is.
        public var channelId: String?
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Of the audience that it is for, where that has one.
        public var variant: String?
        /// Whether APNs stores the newest message for phones that are offline.
        public var storagePolicy: StoragePolicy?
        /// How far it has come.
        public var state: ChannelState?
        /// The organiser's name for the event.
        public var eventKey: String?
        /// What people know it by.
        public var label: String?
        /// Why, in a word of Apple's or of the server's.
        public var reason: String?
        /// When it is tried again.
        public var nextAttemptAt: Date?
        /// When it was made.
        public var createdAt: Date?
        /// When it was first seen in Apple's list.
        public var firstSeenAt: Date?
        /// Whether the ledger knows it.
        public var managed: Bool
        /// What Apple said just now.
        public var verified: Verification?
    }

    /// What Apple says of a channel.
    public struct Verification: Sendable, Hashable, Codable {
        /// Whether Apple knows it.
        public var exists: Bool
        /// Whether APNs stores the newest message for phones that are offline.
        public var storagePolicy: String?
        /// When.
        public var at: Date
    }
}
