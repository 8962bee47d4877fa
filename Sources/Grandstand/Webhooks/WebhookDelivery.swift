package import FoundationEssentials

/// One message on its way to one webhook.
package struct WebhookDelivery: Sendable, Hashable {
    package var id: UUID
    /// The message's ID, the same in every try and every replay. Receivers recognise repetitions by it.
    package var message: UUID
    package var topic: WebhookTopic
    package var state: State
    /// All tries of the delivery, also those before a replay, including the one under way.
    package var attempts: Int
    package var createdAt: Date
    package var nextAttemptAt: Date?
    package var settledAt: Date?
    /// The receiver's last status.
    package var status: Int?
    /// Why the last try failed.
    package var reason: String?

    package init(
        id: UUID, message: UUID, topic: WebhookTopic, state: State, attempts: Int, createdAt: Date,
        nextAttemptAt: Date?, settledAt: Date?, status: Int?, reason: String?
    ) {
        self.id = id
        self.message = message
        self.topic = topic
        self.state = state
        self.attempts = attempts
        self.createdAt = createdAt
        self.nextAttemptAt = nextAttemptAt
        self.settledAt = settledAt
        self.status = status
        self.reason = reason
    }

    package enum State: String, Sendable, Hashable, CaseIterable {
        case queued
        case sending
        /// The receiver said 2xx.
        case delivered
        /// No try is left.
        case failed
        /// The receiver answered another message with 410, so the message of this delivery is not posted.
        case cancelled
    }

    /// The message's ID as the header `webhook-id` has it.
    package static func messageName(_ id: UUID) -> String { "msg_\(id.uuidString.lowercased())" }
}

/// A delivery with its body and its attempts.
package struct WebhookDeliveryLog: Sendable, Hashable {
    package var delivery: WebhookDelivery
    /// The posted body, byte for byte.
    package var body: [UInt8]
    /// The oldest first.
    package var attempts: [WebhookAttempt]

    package init(delivery: WebhookDelivery, body: [UInt8], attempts: [WebhookAttempt]) {
        self.delivery = delivery
        self.body = body
        self.attempts = attempts
    }
}

/// One try.
package struct WebhookAttempt: Sendable, Hashable {
    /// The number of the try, counted from 1.
    package var number: Int
    package var at: Date
    package var milliseconds: Int
    package var status: Int?
    package var reason: String?

    package init(number: Int, at: Date, milliseconds: Int, status: Int?, reason: String?) {
        self.number = number
        self.at = at
        self.milliseconds = milliseconds
        self.status = status
        self.reason = reason
    }
}
