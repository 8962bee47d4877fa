public import Foundation

extension GrandstandClient {
    /// A message to a webhook, and how far it has come.
    public struct WebhookDelivery: Sendable, Hashable, Codable {
        /// The server's ID of it.
        public var id: String
        /// The header webhook-id, the same in every try.
        public var messageId: String
        /// What the message tells.
        public var topic: WebhookMessageType
        /// How far it has come.
        public var state: WebhookDeliveryState
        /// Requests to APNs.
        public var attempts: Int
        /// The receiver's last HTTP status.
        public var status: Int?
        /// Why, in a word of Apple's or of the server's.
        public var reason: String?
        /// When it was made.
        public var createdAt: Date
        /// When it is tried again.
        public var nextAttemptAt: Date?
        /// When nothing more was to be done.
        public var settledAt: Date?
    }

    /// A delivery, its message and every try.
    public typealias WebhookDeliveryLog = Joined<WebhookDelivery, WebhookTries>

    /// What was posted, and how often.
    public struct WebhookTries: Sendable, Hashable, Codable {
        /// What is posted.
        public var message: WebhookMessage
        /// Every try.
        public var log: [WebhookAttempt]
    }

    /// One try of a delivery.
    public struct WebhookAttempt: Sendable, Hashable, Codable {
        /// Which try, from 1.
        public var attempt: Int
        /// When.
        public var at: Date
        /// How long it took.
        public var milliseconds: Int
        /// The receiver's HTTP status.
        public var status: Int?
        /// Why, in a word of Apple's or of the server's.
        public var reason: String?
    }

    /// What a webhook's receiver gets, signed as Standard Webhooks says.
    public struct WebhookMessage: Sendable, Hashable, Codable {
        /// What it tells.
        public var type: WebhookMessageType
        /// When it was made.
        public var timestamp: Date
        /// What it is about.
        public var data: RawJSON
    }
}
