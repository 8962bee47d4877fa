public import Foundation

extension GrandstandClient {
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
