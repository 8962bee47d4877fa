// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// What a webhook can subscribe to. Each topic names the scopes of which a key needs one.
    public struct WebhookTopic: ContractWord {
        /// Every delivery of a broadcast has its final state, or the broadcast was withdrawn. Scope organise.
        public static let broadcastSettled = Self(rawValue: "broadcast.settled")
        /// An event ended, was cancelled, or was reopened. Scope organise.
        public static let eventState = Self(rawValue: "event.state")
        /// A channel no longer exists at Apple. Scope organise or operate.
        public static let channelMissing = Self(rawValue: "channel.missing")
        /// An audience has another channel than before. Apps must look it up again. Scope organise or operate.
        public static let channelReplaced = Self(rawValue: "channel.replaced")
        /// The level of an app's quota changed. Scope operate.
        public static let quotaLevel = Self(rawValue: "quota.level")
        /// A reconciliation found something new, changed something, or raised an alarm. Scope operate.
        public static let reconciliationFound = Self(rawValue: "reconciliation.found")
        /// The app lacks the broadcast capability at Apple. Scope operate.
        public static let capabilityOff = Self(rawValue: "capability.off")
        /// APNs began to throttle an app. Scope operate.
        public static let throttleBegan = Self(rawValue: "throttle.began")
        /// APNs no longer throttles an app. Scope operate.
        public static let throttleEnded = Self(rawValue: "throttle.ended")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .broadcastSettled,
            .eventState,
            .channelMissing,
            .channelReplaced,
            .quotaLevel,
            .reconciliationFound,
            .capabilityOff,
            .throttleBegan,
            .throttleEnded,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The type of a message to a webhook: a topic, or the test.
    public struct WebhookMessageType: ContractWord {
        /// Every delivery of a broadcast has its final state, or the broadcast was withdrawn.
        public static let broadcastSettled = Self(rawValue: "broadcast.settled")
        /// An event ended, was cancelled, or was reopened.
        public static let eventState = Self(rawValue: "event.state")
        /// A channel no longer exists at Apple.
        public static let channelMissing = Self(rawValue: "channel.missing")
        /// An audience has another channel than before. Apps must look it up again.
        public static let channelReplaced = Self(rawValue: "channel.replaced")
        /// The level of an app's quota changed.
        public static let quotaLevel = Self(rawValue: "quota.level")
        /// A reconciliation found something new, changed something, or raised an alarm.
        public static let reconciliationFound = Self(rawValue: "reconciliation.found")
        /// The app lacks the broadcast capability at Apple.
        public static let capabilityOff = Self(rawValue: "capability.off")
        /// APNs began to throttle an app.
        public static let throttleBegan = Self(rawValue: "throttle.began")
        /// APNs no longer throttles an app.
        public static let throttleEnded = Self(rawValue: "throttle.ended")
        /// POST …/test asked for it.
        public static let webhookTest = Self(rawValue: "webhook.test")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .broadcastSettled,
            .eventState,
            .channelMissing,
            .channelReplaced,
            .quotaLevel,
            .reconciliationFound,
            .capabilityOff,
            .throttleBegan,
            .throttleEnded,
            .webhookTest,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The state of a message to one webhook.
    public struct WebhookDeliveryState: ContractWord {
        /// It waits for its first or next attempt.
        public static let queued = Self(rawValue: "queued")
        /// It is being posted.
        public static let sending = Self(rawValue: "sending")
        /// The receiver answered 2xx.
        public static let delivered = Self(rawValue: "delivered")
        /// No attempt is left, or the receiver answered 410. POST …/replay posts it again.
        public static let failed = Self(rawValue: "failed")
        /// It was not posted: the receiver answered 410 to another message, so the webhook is disabled.
        public static let cancelled = Self(rawValue: "cancelled")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .queued,
            .sending,
            .delivered,
            .failed,
            .cancelled,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// One of the two interfaces of APNs that can be throttled.
    public struct APNsAPI: ContractWord {
        /// Messages to channels.
        public static let broadcast = Self(rawValue: "broadcast")
        /// Pushes to tokens.
        public static let device = Self(rawValue: "device")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .broadcast,
            .device,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The URL and the topics of a webhook.
    public struct WebhookDraft: Sendable, Hashable, Codable, ContractObject {
        /// An absolute URL without user name and fragment. https only, unless GRANDSTAND_WEBHOOK_HTTP is set, and only
        /// to public addresses and GRANDSTAND_WEBHOOK_NETWORKS.
        public var url: String
        /// A text for people, at most 200 characters.
        public var description: String?
        /// What it is told. The key needs the scope of each.
        public var topics: [WebhookTopic]
        /// Only messages about this app.
        public var bundleId: String?
        /// Only messages about these apps, each once. Not together with bundleId. Without either, about what the key
        /// reaches.
        public var bundleIds: [String]?
        /// false: no message is made for it, and those that wait are not posted. Enabling it forgets its failures.
        public var enabled: Bool?

        /// Members that are `nil` are left out.
        public init(
            url: String, description: String? = nil, topics: [WebhookTopic], bundleId: String? = nil,
            bundleIds: [String]? = nil, enabled: Bool? = nil
        ) {
            self.url = url
            self.description = description
            self.topics = topics
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.enabled = enabled
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            url = try object.required("url")
            description = try object.optional("description")
            topics = try object.required("topics")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            enabled = try object.optional("enabled")
        }

        package func write(members object: inout JSONWriter) {
            object.member("url", url)
            if let description { object.member("description", description) }
            object.member("topics", topics)
            if let bundleId { object.member("bundleId", bundleId) }
            if let bundleIds { object.member("bundleIds", bundleIds) }
            if let enabled { object.member("enabled", enabled) }
        }
    }

    /// How long the old secret signs, too.
    public struct WebhookRotation: Sendable, Hashable, Codable, ContractObject {
        /// Seconds for which messages carry the signature of the old secret, too, at most seven days.
        public var overlapSeconds: Int?

        /// Members that are `nil` are left out.
        public init(overlapSeconds: Int? = nil) {
            self.overlapSeconds = overlapSeconds
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            overlapSeconds = try object.optional("overlapSeconds")
        }

        package func write(members object: inout JSONWriter) {
            if let overlapSeconds { object.member("overlapSeconds", overlapSeconds) }
        }
    }

    /// The URL and the topics of a webhook.
    public struct Webhook: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the resource.
        public var id: String
        /// Where messages are posted.
        public var url: String
        /// A text for people.
        public var description: String?
        /// What it is told.
        public var topics: [WebhookTopic]
        /// The app that it is bound to, if it is a single one.
        public var bundleId: String?
        /// The apps that it is bound to. null: it is told of all.
        public var bundleIds: [String]?
        /// The key that last set its URL, topics or apps. null: the command line did, or a key that is no longer kept.
        public var declaredBy: String?
        /// Whether messages are posted.
        public var enabled: Bool
        /// Why the server disabled it. null: it did not.
        public var reason: String?
        /// The first failure since the last success. null: the last post succeeded.
        public var failingSince: Date?
        /// Until when the old secret signs, too. null: there is none.
        public var previousSecretUntil: Date?
        /// When it was made.
        public var createdAt: Date
        /// When it was last changed.
        public var updatedAt: Date

        /// Members that are `nil` are left out.
        public init(
            id: String, url: String, description: String? = nil, topics: [WebhookTopic], bundleId: String? = nil,
            bundleIds: [String]? = nil, declaredBy: String? = nil, enabled: Bool, reason: String? = nil,
            failingSince: Date? = nil, previousSecretUntil: Date? = nil, createdAt: Date, updatedAt: Date
        ) {
            self.id = id
            self.url = url
            self.description = description
            self.topics = topics
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.declaredBy = declaredBy
            self.enabled = enabled
            self.reason = reason
            self.failingSince = failingSince
            self.previousSecretUntil = previousSecretUntil
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            url = try object.required("url")
            description = try object.optional("description")
            topics = try object.required("topics")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            declaredBy = try object.optional("declaredBy")
            enabled = try object.required("enabled")
            reason = try object.optional("reason")
            failingSince = try object.optional("failingSince")
            previousSecretUntil = try object.optional("previousSecretUntil")
            createdAt = try object.required("createdAt")
            updatedAt = try object.required("updatedAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("url", url)
            object.member("description", description)
            object.member("topics", topics)
            object.member("bundleId", bundleId)
            object.member("bundleIds", bundleIds)
            object.member("declaredBy", declaredBy)
            object.member("enabled", enabled)
            object.member("reason", reason)
            object.member("failingSince", failingSince)
            object.member("previousSecretUntil", previousSecretUntil)
            object.member("createdAt", createdAt)
            object.member("updatedAt", updatedAt)
        }
    }

    /// A webhook with a new secret.
    public struct IssuedWebhook: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the resource.
        public var id: String
        /// Where messages are posted.
        public var url: String
        /// A text for people.
        public var description: String?
        /// What it is told.
        public var topics: [WebhookTopic]
        /// The app that it is bound to, if it is a single one.
        public var bundleId: String?
        /// The apps that it is bound to. null: it is told of all.
        public var bundleIds: [String]?
        /// The key that last set its URL, topics or apps. null: the command line did, or a key that is no longer kept.
        public var declaredBy: String?
        /// Whether messages are posted.
        public var enabled: Bool
        /// Why the server disabled it. null: it did not.
        public var reason: String?
        /// The first failure since the last success.
        public var failingSince: Date?
        /// Until when the old secret signs, too.
        public var previousSecretUntil: Date?
        /// When it was made.
        public var createdAt: Date
        /// When it was last changed.
        public var updatedAt: Date
        /// Signs as Standard Webhooks says. Only the first answer has it.
        public var secret: String? {
            get { hidden?.rawValue }
            set { hidden = newValue.map(Secret.init(_:)) }
        }
        private var hidden: Secret?
        /// Only in a repeated answer, which has no secret: it was shown once. Whoever does not have it rotates it.
        public var warnings: [String]?

        /// Members that are `nil` are left out.
        public init(
            id: String, url: String, description: String? = nil, topics: [WebhookTopic], bundleId: String? = nil,
            bundleIds: [String]? = nil, declaredBy: String? = nil, enabled: Bool, reason: String? = nil,
            failingSince: Date? = nil, previousSecretUntil: Date? = nil, createdAt: Date, updatedAt: Date,
            secret: String? = nil, warnings: [String]? = nil
        ) {
            self.id = id
            self.url = url
            self.description = description
            self.topics = topics
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.declaredBy = declaredBy
            self.enabled = enabled
            self.reason = reason
            self.failingSince = failingSince
            self.previousSecretUntil = previousSecretUntil
            self.createdAt = createdAt
            self.updatedAt = updatedAt
            hidden = secret.map(Secret.init(_:))
            self.warnings = warnings
        }

        /// All members of the other, and these.
        package init(secret: String? = nil, warnings: [String]? = nil, _ base: Webhook) {
            self.id = base.id
            self.url = base.url
            self.description = base.description
            self.topics = base.topics
            self.bundleId = base.bundleId
            self.bundleIds = base.bundleIds
            self.declaredBy = base.declaredBy
            self.enabled = base.enabled
            self.reason = base.reason
            self.failingSince = base.failingSince
            self.previousSecretUntil = base.previousSecretUntil
            self.createdAt = base.createdAt
            self.updatedAt = base.updatedAt
            hidden = secret.map(Secret.init(_:))
            self.warnings = warnings
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            url = try object.required("url")
            description = try object.optional("description")
            topics = try object.required("topics")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            declaredBy = try object.optional("declaredBy")
            enabled = try object.required("enabled")
            reason = try object.optional("reason")
            failingSince = try object.optional("failingSince")
            previousSecretUntil = try object.optional("previousSecretUntil")
            createdAt = try object.required("createdAt")
            updatedAt = try object.required("updatedAt")
            hidden = (try object.optional("secret")).map(Secret.init(_:))
            warnings = try object.optional("warnings")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("url", url)
            object.member("description", description)
            object.member("topics", topics)
            object.member("bundleId", bundleId)
            object.member("bundleIds", bundleIds)
            object.member("declaredBy", declaredBy)
            object.member("enabled", enabled)
            object.member("reason", reason)
            object.member("failingSince", failingSince)
            object.member("previousSecretUntil", previousSecretUntil)
            object.member("createdAt", createdAt)
            object.member("updatedAt", updatedAt)
            if let secret { object.member("secret", secret) }
            if let warnings { object.member("warnings", warnings) }
        }
    }

    /// A page of webhooks.
    public typealias WebhookPage = Page<Webhook>

    /// A message to one webhook, and its state.
    public struct WebhookDelivery: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the resource.
        public var id: String
        /// The header webhook-id, the same in every attempt. Receivers recognise repetitions by it.
        public var messageId: String
        /// The type of a message to a webhook: a topic, or the test.
        public var topic: WebhookMessageType
        /// The state of a message to one webhook.
        public var state: WebhookDeliveryState
        /// Attempts of all rounds, the one under way included.
        public var attempts: Int
        /// The receiver's last HTTP status. null: it did not answer.
        public var status: Int?
        /// Why the last attempt failed.
        public var reason: String?
        /// When the message was made.
        public var createdAt: Date
        /// When it is posted next.
        public var nextAttemptAt: Date?
        /// When it got its final state.
        public var settledAt: Date?

        /// Members that are `nil` are left out.
        public init(
            id: String, messageId: String, topic: WebhookMessageType, state: WebhookDeliveryState, attempts: Int,
            status: Int? = nil, reason: String? = nil, createdAt: Date, nextAttemptAt: Date? = nil,
            settledAt: Date? = nil
        ) {
            self.id = id
            self.messageId = messageId
            self.topic = topic
            self.state = state
            self.attempts = attempts
            self.status = status
            self.reason = reason
            self.createdAt = createdAt
            self.nextAttemptAt = nextAttemptAt
            self.settledAt = settledAt
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            messageId = try object.required("messageId")
            topic = try object.required("topic")
            state = try object.required("state")
            attempts = try object.required("attempts")
            status = try object.optional("status")
            reason = try object.optional("reason")
            createdAt = try object.required("createdAt")
            nextAttemptAt = try object.optional("nextAttemptAt")
            settledAt = try object.optional("settledAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("messageId", messageId)
            object.member("topic", topic.rawValue)
            object.member("state", state.rawValue)
            object.member("attempts", attempts)
            object.member("status", status)
            object.member("reason", reason)
            object.member("createdAt", createdAt)
            object.member("nextAttemptAt", nextAttemptAt)
            object.member("settledAt", settledAt)
        }
    }

    /// A delivery with its message and every attempt.
    public struct WebhookDeliveryLog: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the resource.
        public var id: String
        /// The header webhook-id, the same in every attempt. Receivers recognise repetitions by it.
        public var messageId: String
        /// The type of a message to a webhook: a topic, or the test.
        public var topic: WebhookMessageType
        /// The state of a message to one webhook.
        public var state: WebhookDeliveryState
        /// Attempts of all rounds, the one under way included.
        public var attempts: Int
        /// The receiver's last HTTP status. null: it did not answer.
        public var status: Int?
        /// Why the last attempt failed.
        public var reason: String?
        /// When the message was made.
        public var createdAt: Date
        /// When it is posted next.
        public var nextAttemptAt: Date?
        /// When it got its final state.
        public var settledAt: Date?
        /// The body that a receiver gets.
        public var message: WebhookMessage
        /// Every attempt, the oldest first.
        public var log: [WebhookAttempt]

        /// Members that are `nil` are left out.
        public init(
            id: String, messageId: String, topic: WebhookMessageType, state: WebhookDeliveryState, attempts: Int,
            status: Int? = nil, reason: String? = nil, createdAt: Date, nextAttemptAt: Date? = nil,
            settledAt: Date? = nil, message: WebhookMessage, log: [WebhookAttempt]
        ) {
            self.id = id
            self.messageId = messageId
            self.topic = topic
            self.state = state
            self.attempts = attempts
            self.status = status
            self.reason = reason
            self.createdAt = createdAt
            self.nextAttemptAt = nextAttemptAt
            self.settledAt = settledAt
            self.message = message
            self.log = log
        }

        /// All members of the other, and these.
        package init(message: WebhookMessage, log: [WebhookAttempt], _ base: WebhookDelivery) {
            self.id = base.id
            self.messageId = base.messageId
            self.topic = base.topic
            self.state = base.state
            self.attempts = base.attempts
            self.status = base.status
            self.reason = base.reason
            self.createdAt = base.createdAt
            self.nextAttemptAt = base.nextAttemptAt
            self.settledAt = base.settledAt
            self.message = message
            self.log = log
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            messageId = try object.required("messageId")
            topic = try object.required("topic")
            state = try object.required("state")
            attempts = try object.required("attempts")
            status = try object.optional("status")
            reason = try object.optional("reason")
            createdAt = try object.required("createdAt")
            nextAttemptAt = try object.optional("nextAttemptAt")
            settledAt = try object.optional("settledAt")
            message = try object.required("message")
            log = try object.required("log")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("messageId", messageId)
            object.member("topic", topic.rawValue)
            object.member("state", state.rawValue)
            object.member("attempts", attempts)
            object.member("status", status)
            object.member("reason", reason)
            object.member("createdAt", createdAt)
            object.member("nextAttemptAt", nextAttemptAt)
            object.member("settledAt", settledAt)
            object.member("message", message)
            object.member("log", log)
        }
    }

    /// One attempt to post a message.
    public struct WebhookAttempt: Sendable, Hashable, Codable, ContractObject {
        /// Its number, from 1.
        public var attempt: Int
        /// When it began.
        public var at: Date
        /// How long it took.
        public var milliseconds: Int
        /// The receiver's HTTP status. null: it did not answer.
        public var status: Int?
        /// Why it failed.
        public var reason: String?

        /// Members that are `nil` are left out.
        public init(attempt: Int, at: Date, milliseconds: Int, status: Int? = nil, reason: String? = nil) {
            self.attempt = attempt
            self.at = at
            self.milliseconds = milliseconds
            self.status = status
            self.reason = reason
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            attempt = try object.required("attempt")
            at = try object.required("at")
            milliseconds = try object.required("milliseconds")
            status = try object.optional("status")
            reason = try object.optional("reason")
        }

        package func write(members object: inout JSONWriter) {
            object.member("attempt", attempt)
            object.member("at", at)
            object.member("milliseconds", milliseconds)
            object.member("status", status)
            object.member("reason", reason)
        }
    }

    /// A page of deliveries.
    public typealias WebhookDeliveryPage = Page<WebhookDelivery>

    /// The body that a receiver gets.
    public struct WebhookMessage: Sendable, Hashable, Codable, ContractObject {
        /// The type of a message to a webhook: a topic, or the test.
        public var type: WebhookMessageType { didSet { kept = KeptText() } }
        /// When it happened.
        public var timestamp: Date { didSet { kept = KeptText() } }
        /// The data of the message; its type says which of these it is.
        public var data: RawJSON { didSet { kept = KeptText() } }
        private var kept = KeptText()

        /// Members that are `nil` are left out.
        public init(type: WebhookMessageType, timestamp: Date, data: RawJSON) {
            self.type = type
            self.timestamp = timestamp
            self.data = data
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            type = try object.required("type")
            timestamp = try object.required("timestamp")
            data = try object.required("data")
            kept = KeptText(object)
        }

        package func write(members object: inout JSONWriter) {
            object.member("type", type.rawValue)
            object.member("timestamp", timestamp)
            object.member("data", data)
        }

        package func write(to json: inout JSONWriter) {
            kept.write(to: &json) { write(members: &$0) }
        }
    }

    /// The data of the message; its type says which of these it is.
    public enum WebhookData: Sendable, Hashable, Codable, ContractValue {
        case broadcastSettled(BroadcastSettled)
        case eventState(EventStateChanged)
        case channelMissing(ChannelLost)
        case channelReplaced(ChannelReplaced)
        case quotaLevel(QuotaLevelChanged)
        case reconciliationFound(ReconciliationFound)
        case capabilityOff(CapabilityOff)
        case throttleBegan(ThrottleBegan)
        case throttleEnded(ThrottleEnded)
        case webhookTest(WebhookTest)

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(json: JSONValue) throws {
            if let value = try? BroadcastSettled(json: json) {
                self = .broadcastSettled(value)
                return
            }
            if let value = try? EventStateChanged(json: json) {
                self = .eventState(value)
                return
            }
            if let value = try? ChannelLost(json: json) {
                self = .channelMissing(value)
                return
            }
            if let value = try? ChannelReplaced(json: json) {
                self = .channelReplaced(value)
                return
            }
            if let value = try? QuotaLevelChanged(json: json) {
                self = .quotaLevel(value)
                return
            }
            if let value = try? ReconciliationFound(json: json) {
                self = .reconciliationFound(value)
                return
            }
            if let value = try? CapabilityOff(json: json) {
                self = .capabilityOff(value)
                return
            }
            if let value = try? ThrottleBegan(json: json) {
                self = .throttleBegan(value)
                return
            }
            if let value = try? ThrottleEnded(json: json) {
                self = .throttleEnded(value)
                return
            }
            self = .webhookTest(try WebhookTest(json: json))
        }

        package func write(to json: inout JSONWriter) {
            switch self {
            case .broadcastSettled(let value): value.write(to: &json)
            case .eventState(let value): value.write(to: &json)
            case .channelMissing(let value): value.write(to: &json)
            case .channelReplaced(let value): value.write(to: &json)
            case .quotaLevel(let value): value.write(to: &json)
            case .reconciliationFound(let value): value.write(to: &json)
            case .capabilityOff(let value): value.write(to: &json)
            case .throttleBegan(let value): value.write(to: &json)
            case .throttleEnded(let value): value.write(to: &json)
            case .webhookTest(let value): value.write(to: &json)
            }
        }
    }

    /// Every delivery of a broadcast has its final state, or the broadcast was withdrawn.
    public struct BroadcastSettled: Sendable, Hashable, Codable, ContractObject {
        /// The broadcast.
        public var id: String
        /// Its event. null: it went to a channel without an event.
        public var eventKey: String?
        /// The server's ID of the channel without an event that it went to.
        public var channel: String?
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// The state of a broadcast, from all of its deliveries.
        public var state: BroadcastState
        /// When it was accepted.
        public var acceptedAt: Date
        /// When its last delivery got its final state.
        public var settledAt: Date
        /// How many deliveries are in each state.
        public var counts: [String: Int]
        /// How many were rejected or expired, by the reason.
        public var reasons: [String: Int]

        /// Members that are `nil` are left out.
        public init(
            id: String, eventKey: String? = nil, channel: String? = nil, event: BroadcastKind, state: BroadcastState,
            acceptedAt: Date, settledAt: Date, counts: [String: Int], reasons: [String: Int]
        ) {
            self.id = id
            self.eventKey = eventKey
            self.channel = channel
            self.event = event
            self.state = state
            self.acceptedAt = acceptedAt
            self.settledAt = settledAt
            self.counts = counts
            self.reasons = reasons
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            eventKey = try object.optional("eventKey")
            channel = try object.optional("channel")
            event = try object.required("event")
            state = try object.required("state")
            acceptedAt = try object.required("acceptedAt")
            settledAt = try object.required("settledAt")
            counts = try object.required("counts")
            reasons = try object.required("reasons")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("eventKey", eventKey)
            object.member("channel", channel)
            object.member("event", event.rawValue)
            object.member("state", state.rawValue)
            object.member("acceptedAt", acceptedAt)
            object.member("settledAt", settledAt)
            object.member("counts", counts)
            object.member("reasons", reasons)
        }
    }

    /// An event ended, was cancelled, or was reopened.
    public struct EventStateChanged: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// Its state now: ended or cancelled; after reopening scheduled or live.
        public var state: EventState
        /// Who did it, as actor of the audit log: of an end, who asked for it. null: it was not recorded.
        public var by: String?

        /// Members that are `nil` are left out.
        public init(eventKey: String, state: EventState, by: String? = nil) {
            self.eventKey = eventKey
            self.state = state
            self.by = by
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            state = try object.required("state")
            by = try object.optional("by")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("state", state.rawValue)
            object.member("by", by)
        }
    }

    /// A channel no longer exists at Apple.
    public struct ChannelLost: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the channel.
        public var id: String
        /// Apple's ID of it.
        public var channelId: String?
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The variant of the audience that it serves, if that has one.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// The event that it serves.
        public var eventKey: String?
        /// How the server noticed.
        public var reason: String?

        /// Members that are `nil` are left out.
        public init(
            id: String, channelId: String? = nil, bundleId: String, environment: Environment, variant: String? = nil,
            storagePolicy: StoragePolicy, eventKey: String? = nil, reason: String? = nil
        ) {
            self.id = id
            self.channelId = channelId
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.eventKey = eventKey
            self.reason = reason
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            channelId = try object.optional("channelId")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            storagePolicy = try object.required("storagePolicy")
            eventKey = try object.optional("eventKey")
            reason = try object.optional("reason")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("channelId", channelId)
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy.rawValue)
            object.member("eventKey", eventKey)
            object.member("reason", reason)
        }
    }

    /// An audience has another channel than before. Apps must look it up again.
    public struct ChannelReplaced: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the new channel.
        public var id: String
        /// Apple's ID of it.
        public var channelId: String?
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The variant of the audience that it serves, if that has one.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// The event that it serves.
        public var eventKey: String?
        /// The channel that another one replaced.
        public var replaced: ReplacedChannel

        /// Members that are `nil` are left out.
        public init(
            id: String, channelId: String? = nil, bundleId: String, environment: Environment, variant: String? = nil,
            storagePolicy: StoragePolicy, eventKey: String? = nil, replaced: ReplacedChannel
        ) {
            self.id = id
            self.channelId = channelId
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.eventKey = eventKey
            self.replaced = replaced
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            channelId = try object.optional("channelId")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            storagePolicy = try object.required("storagePolicy")
            eventKey = try object.optional("eventKey")
            replaced = try object.required("replaced")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("channelId", channelId)
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy.rawValue)
            object.member("eventKey", eventKey)
            object.member("replaced", replaced)
        }
    }

    /// The channel that another one replaced.
    public struct ReplacedChannel: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the resource.
        public var id: String
        /// Apple's ID of it.
        public var channelId: String?

        /// Members that are `nil` are left out.
        public init(id: String, channelId: String? = nil) {
            self.id = id
            self.channelId = channelId
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            channelId = try object.optional("channelId")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("channelId", channelId)
        }
    }

    /// The level of an app's quota changed.
    public struct QuotaLevelChanged: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// How full an app's quota of channels is.
        public var level: QuotaLevel
        /// The level before.
        public var previousLevel: QuotaLevel?
        /// The app's channelLimit.
        public var limit: Int
        /// Channels at Apple, as far as the server knows.
        public var used: Int
        /// Places held for channels that are being created.
        public var reserved: Int
        /// Places that are free.
        public var available: Int
        /// Channels in Apple's list that the ledger does not have.
        public var unmanaged: Int

        /// Members that are `nil` are left out.
        public init(
            bundleId: String, environment: Environment, level: QuotaLevel, previousLevel: QuotaLevel? = nil, limit: Int,
            used: Int, reserved: Int, available: Int, unmanaged: Int
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.level = level
            self.previousLevel = previousLevel
            self.limit = limit
            self.used = used
            self.reserved = reserved
            self.available = available
            self.unmanaged = unmanaged
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            level = try object.required("level")
            previousLevel = try object.optional("previousLevel")
            limit = try object.required("limit")
            used = try object.required("used")
            reserved = try object.required("reserved")
            available = try object.required("available")
            unmanaged = try object.required("unmanaged")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            object.member("level", level.rawValue)
            object.member("previousLevel", previousLevel?.rawValue)
            object.member("limit", limit)
            object.member("used", used)
            object.member("reserved", reserved)
            object.member("available", available)
            object.member("unmanaged", unmanaged)
        }
    }

    /// A reconciliation found something new, changed something, or raised an alarm. GET of its report has the details.
    public struct ReconciliationFound: Sendable, Hashable, Codable, ContractObject {
        /// The report.
        public var id: String
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// When it began.
        public var startedAt: Date
        /// When it was done.
        public var finishedAt: Date
        /// Whether the actions were carried out.
        public var applied: Bool
        /// Channels in Apple's list.
        public var apple: Int
        /// Channels of the ledger that should be in it.
        public var ledger: Int
        /// How many channels Apple's list lacks.
        public var missing: Int
        /// How many channels the ledger lacks.
        public var unmanaged: Int
        /// Of these, how many were seen for the first time.
        public var newUnmanaged: Int
        /// How many actions there are.
        public var actions: Int
        /// Why a person has to decide.
        public var alarm: ReconciliationAlarm?

        /// Members that are `nil` are left out.
        public init(
            id: String, bundleId: String, environment: Environment, startedAt: Date, finishedAt: Date, applied: Bool,
            apple: Int, ledger: Int, missing: Int, unmanaged: Int, newUnmanaged: Int, actions: Int,
            alarm: ReconciliationAlarm? = nil
        ) {
            self.id = id
            self.bundleId = bundleId
            self.environment = environment
            self.startedAt = startedAt
            self.finishedAt = finishedAt
            self.applied = applied
            self.apple = apple
            self.ledger = ledger
            self.missing = missing
            self.unmanaged = unmanaged
            self.newUnmanaged = newUnmanaged
            self.actions = actions
            self.alarm = alarm
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            startedAt = try object.required("startedAt")
            finishedAt = try object.required("finishedAt")
            applied = try object.required("applied")
            apple = try object.required("apple")
            ledger = try object.required("ledger")
            missing = try object.required("missing")
            unmanaged = try object.required("unmanaged")
            newUnmanaged = try object.required("newUnmanaged")
            actions = try object.required("actions")
            alarm = try object.optional("alarm")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            object.member("startedAt", startedAt)
            object.member("finishedAt", finishedAt)
            object.member("applied", applied)
            object.member("apple", apple)
            object.member("ledger", ledger)
            object.member("missing", missing)
            object.member("unmanaged", unmanaged)
            object.member("newUnmanaged", newUnmanaged)
            object.member("actions", actions)
            object.member("alarm", alarm?.rawValue)
        }
    }

    /// The app lacks the broadcast capability at Apple.
    public struct CapabilityOff: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// How the server noticed.
        public var evidence: String

        /// Members that are `nil` are left out.
        public init(bundleId: String, environment: Environment, evidence: String) {
            self.bundleId = bundleId
            self.environment = environment
            self.evidence = evidence
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            evidence = try object.required("evidence")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            object.member("evidence", evidence)
        }
    }

    /// APNs began to throttle an app. It answered 429 to several of its lanes.
    public struct ThrottleBegan: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// One of the two interfaces of APNs that can be throttled.
        public var api: APNsAPI
        /// The time of the first 429.
        public var since: Date

        /// Members that are `nil` are left out.
        public init(bundleId: String, environment: Environment, api: APNsAPI, since: Date) {
            self.bundleId = bundleId
            self.environment = environment
            self.api = api
            self.since = since
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            api = try object.required("api")
            since = try object.required("since")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            object.member("api", api.rawValue)
            object.member("since", since)
        }
    }

    /// APNs no longer throttles an app. No 429 came for 300 seconds.
    public struct ThrottleEnded: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// One of the two interfaces of APNs that can be throttled.
        public var api: APNsAPI
        /// The time of the first 429.
        public var since: Date

        /// Members that are `nil` are left out.
        public init(bundleId: String, environment: Environment, api: APNsAPI, since: Date) {
            self.bundleId = bundleId
            self.environment = environment
            self.api = api
            self.since = since
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            api = try object.required("api")
            since = try object.required("since")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            object.member("api", api.rawValue)
            object.member("since", since)
        }
    }

    /// Somebody sent a test to the webhook.
    public struct WebhookTest: Sendable, Hashable, Codable, ContractObject {
        /// The webhook.
        public var webhook: String
        /// Who did it: key: and the name of an API key, command-line for an operator at the server, grandstand for the
        /// server itself.
        public var by: String

        /// Members that are `nil` are left out.
        public init(webhook: String, by: String) {
            self.webhook = webhook
            self.by = by
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            webhook = try object.required("webhook")
            by = try object.required("by")
        }

        package func write(members object: inout JSONWriter) {
            object.member("webhook", webhook)
            object.member("by", by)
        }
    }
}
