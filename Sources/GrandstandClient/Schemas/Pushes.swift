public import Foundation

extension GrandstandClient {
    /// A push to one token, for teams that keep their tokens themselves: a message without audiences and variants.
    public typealias PushDraft = Joined<PushTarget, BroadcastDraft>

    /// Which token a push goes to, and what a start needs besides.
    public struct PushTarget: Sendable, Hashable, Codable {
        /// An update token, or for start a push-to-start token.
        public var token: String
        /// Of a start, and required for it.
        public var attributesType: String?
        /// Of a start, and required for it; byte for byte.
        public var attributes: RawJSON?
        /// Of a start: Apple's ID of the channel that the activity listens to. Systems before 18 start nothing with
        /// it.
        public var inputPushChannel: String?
        /// Of a start: the activity gets a token; not together with inputPushChannel. Systems before 18 start nothing
        /// with it.
        public var inputPushToken: Bool?
    }

    /// A single push.
    public struct Push: Sendable, Hashable, Codable {
        /// The server's ID of it.
        public var id: String
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Its last six digits.
        public var token: String
        /// An update or the end; of a push also a start.
        public var event: MessageKind
        /// How far it has come.
        public var state: BroadcastState
        /// When it was accepted, durably.
        public var acceptedAt: Date
        /// When it is sent, if not at once.
        public var sendAt: Date?
        /// Who asked for it, as actor of the audit log.
        public var by: String?
        /// Who withdrew it, as actor of the audit log; nil: nobody did, or that was not kept yet.
        public var withdrawnBy: String?
        /// null until its sendAt.
        public var delivery: PushDelivery?
        /// What was accepted and may not be what was meant.
        public var warnings: [String]
    }

    /// What has become of a push, or of a broadcast for one audience.
    public struct PushDelivery: Sendable, Hashable, Codable {
        /// How far it has come.
        public var state: DeliveryState
        /// Requests to APNs.
        public var attempts: Int
        /// 1, 5 or 10.
        public var priority: Int
        /// The header apns-expiration itself, in seconds since 1970; 0 is "now or never".
        public var apnsExpiration: Int
        /// aps.timestamp of the message.
        public var timestamp: Int?
        /// The apns-request-id of the last attempt.
        public var apnsRequestId: String?
        /// Apple's apns-unique-id.
        public var apnsUniqueId: String?
        /// Why, in a word of Apple's or of the server's.
        public var reason: String?
        /// When it is tried again.
        public var nextAttemptAt: Date?
        /// When nothing more was to be done.
        public var settledAt: Date?
    }
}

extension GrandstandClient.PushDraft {
    /// A message to a token; a start needs the attributes, too.
    public init(
        token: String, _ message: GrandstandClient.BroadcastDraft, attributesType: String? = nil,
        attributes: RawJSON? = nil, inputPushChannel: String? = nil, inputPushToken: Bool? = nil
    ) {
        self.init(
            .init(
                token: token, attributesType: attributesType, attributes: attributes,
                inputPushChannel: inputPushChannel, inputPushToken: inputPushToken), message)
    }
}
