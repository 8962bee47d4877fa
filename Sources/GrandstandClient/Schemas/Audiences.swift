public import Foundation

extension GrandstandClient {
    /// Who follows an event, one app in one environment, and how they are reached.
    public struct Audience: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Which of the app's audiences, e.g. a language.
        public var variant: String?
        /// Whether APNs stores the newest message for phones that are offline.
        public var storagePolicy: StoragePolicy
        /// By a channel, or by tokens.
        public var delivery: AudienceDelivery?
        /// Of this audience's messages where a broadcast says none.
        public var priority: Int?

        /// What is left out is not said.
        public init(
            bundleId: String, environment: Environment, variant: String? = nil, storagePolicy: StoragePolicy,
            delivery: AudienceDelivery? = nil, priority: Int? = nil
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.delivery = delivery
            self.priority = priority
        }
    }

    /// Names audiences of an event; without `variant` all of the app and environment.
    public struct AudienceSelector: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Which of the app's audiences, e.g. a language.
        public var variant: String?

        /// What is left out is not said.
        public init(bundleId: String, environment: Environment, variant: String? = nil) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
        }
    }

    /// An audience of an event with its channel.
    public struct EventAudience: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Which of the app's audiences, e.g. a language.
        public var variant: String?
        /// Whether APNs stores the newest message for phones that are offline.
        public var storagePolicy: StoragePolicy
        /// By a channel, or by tokens.
        public var delivery: AudienceDelivery
        /// 1, 5 or 10.
        public var priority: Int?
        /// The channel.
        public var channel: AudienceChannel
    }

    /// The channel of an audience, as far as it has come.
    public struct AudienceChannel: Sendable, Hashable, Codable {
        /// How far it has come.
        public var state: AudienceChannelState
        /// Apple's ID of the channel, as it is.
        public var channelId: String?
        /// Why, in a word of Apple's or of the server's.
        public var reason: String?
        /// When it is tried again.
        public var nextAttemptAt: Date?
    }
}
