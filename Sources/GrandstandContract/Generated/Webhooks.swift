// Generated from openapi.yaml by `make contract`. Do not edit.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// What a webhook can subscribe to. Each topic names the scopes of which a key needs one.
    public enum WebhookTopic: ContractWord {
        /// Every delivery of a broadcast has its final state, or the broadcast was withdrawn. Scope organise.
        case broadcastSettled
        /// An event ended, was cancelled, or was reopened. Scope organise.
        case eventState
        /// A channel no longer exists at Apple. Scope organise or operate.
        case channelMissing
        /// An audience has another channel than before. Apps must look it up again. Scope organise or operate.
        case channelReplaced
        /// The level of an app's quota changed. Scope operate.
        case quotaLevel
        /// A reconciliation found something new, changed something, or raised an alarm. Scope operate.
        case reconciliationFound
        /// The app lacks the broadcast capability at Apple. Scope operate.
        case capabilityOff
        /// APNs began to throttle an app. Scope operate.
        case throttleBegan
        /// APNs no longer throttles an app. Scope operate.
        case throttleEnded
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [
            .broadcastSettled, .eventState, .channelMissing, .channelReplaced, .quotaLevel, .reconciliationFound,
            .capabilityOff, .throttleBegan, .throttleEnded,
        ]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .broadcastSettled: "broadcast.settled"
            case .eventState: "event.state"
            case .channelMissing: "channel.missing"
            case .channelReplaced: "channel.replaced"
            case .quotaLevel: "quota.level"
            case .reconciliationFound: "reconciliation.found"
            case .capabilityOff: "capability.off"
            case .throttleBegan: "throttle.began"
            case .throttleEnded: "throttle.ended"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// The type of a message to a webhook: a topic, or the test.
    public enum WebhookMessageType: ContractWord {
        /// Every delivery of a broadcast has its final state, or the broadcast was withdrawn.
        case broadcastSettled
        /// An event ended, was cancelled, or was reopened.
        case eventState
        /// A channel no longer exists at Apple.
        case channelMissing
        /// An audience has another channel than before. Apps must look it up again.
        case channelReplaced
        /// The level of an app's quota changed.
        case quotaLevel
        /// A reconciliation found something new, changed something, or raised an alarm.
        case reconciliationFound
        /// The app lacks the broadcast capability at Apple.
        case capabilityOff
        /// APNs began to throttle an app.
        case throttleBegan
        /// APNs no longer throttles an app.
        case throttleEnded
        /// POST …/test asked for it.
        case webhookTest
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [
            .broadcastSettled, .eventState, .channelMissing, .channelReplaced, .quotaLevel, .reconciliationFound,
            .capabilityOff, .throttleBegan, .throttleEnded, .webhookTest,
        ]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .broadcastSettled: "broadcast.settled"
            case .eventState: "event.state"
            case .channelMissing: "channel.missing"
            case .channelReplaced: "channel.replaced"
            case .quotaLevel: "quota.level"
            case .reconciliationFound: "reconciliation.found"
            case .capabilityOff: "capability.off"
            case .throttleBegan: "throttle.began"
            case .throttleEnded: "throttle.ended"
            case .webhookTest: "webhook.test"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// The state of a message to one webhook.
    public enum WebhookDeliveryState: ContractWord {
        /// It waits for its first or next attempt.
        case queued
        /// It is being posted.
        case sending
        /// The receiver answered 2xx.
        case delivered
        /// No attempt is left, or the receiver answered 410. POST …/replay posts it again.
        case failed
        /// It was not posted: the receiver answered 410 to another message, so the webhook is disabled.
        case cancelled
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.queued, .sending, .delivered, .failed, .cancelled]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .queued: "queued"
            case .sending: "sending"
            case .delivered: "delivered"
            case .failed: "failed"
            case .cancelled: "cancelled"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// One of the two interfaces of APNs that can be throttled.
    public enum APNsAPI: ContractWord {
        /// Messages to channels.
        case broadcast
        /// Pushes to tokens.
        case device
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.broadcast, .device]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .broadcast: "broadcast"
            case .device: "device"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// The URL and the topics of a webhook.
    public struct WebhookDraft: Codable, Sendable, Hashable {
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
    }

    /// How long the old secret signs, too.
    public struct WebhookRotation: Codable, Sendable, Hashable {
        /// Seconds for which messages carry the signature of the old secret, too, at most seven days.
        public var overlapSeconds: Int?

        /// Members that are `nil` are left out.
        public init(overlapSeconds: Int? = nil) {
            self.overlapSeconds = overlapSeconds
        }
    }

    /// The URL and the topics of a webhook.
    public struct Webhook: Codable, Sendable, Hashable, ContractAnswer {
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
    }

    /// A webhook with a new secret.
    public struct IssuedWebhook: Codable, Sendable, Hashable, ContractAnswer {
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

        package static let leftOut = ["secret", "warnings"]

        private enum CodingKeys: String, CodingKey {
            case id
            case url
            case description
            case topics
            case bundleId
            case bundleIds
            case declaredBy
            case enabled
            case reason
            case failingSince
            case previousSecretUntil
            case createdAt
            case updatedAt
            case hidden = "secret"
            case warnings
        }

        /// The members of the other object, and these.
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
    }

    /// A page of webhooks.
    public typealias WebhookPage = Page<Webhook>

    /// A message to one webhook, and its state.
    public struct WebhookDelivery: Codable, Sendable, Hashable, ContractAnswer {
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
    }

    /// A delivery with its message and every attempt.
    public struct WebhookDeliveryLog: Codable, Sendable, Hashable, ContractAnswer {
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
        public var message: RawJSON
        /// Every attempt, the oldest first.
        public var log: [WebhookAttempt]

        /// The members of the other object, and these.
        package init(message: RawJSON, log: [WebhookAttempt], _ base: WebhookDelivery) {
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
    }

    /// One attempt to post a message.
    public struct WebhookAttempt: Codable, Sendable, Hashable, ContractAnswer {
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
    }

    /// A page of deliveries.
    public typealias WebhookDeliveryPage = Page<WebhookDelivery>

    /// The body that a receiver gets.
    public struct WebhookMessage: Codable, Sendable, Hashable {
        /// The type of a message to a webhook: a topic, or the test.
        public var type: WebhookMessageType
        /// When it happened.
        public var timestamp: Date
        /// The data of the message; its type says which of these it is.
        public var data: RawJSON

        /// Members that are `nil` are left out.
        public init(type: WebhookMessageType, timestamp: Date, data: RawJSON) {
            self.type = type
            self.timestamp = timestamp
            self.data = data
        }
    }

    /// Every delivery of a broadcast has its final state, or the broadcast was withdrawn.
    public struct BroadcastSettled: Codable, Sendable, Hashable, ContractAnswer {
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
    }

    /// An event ended, was cancelled, or was reopened.
    public struct EventStateChanged: Codable, Sendable, Hashable, ContractAnswer {
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
    }

    /// A channel no longer exists at Apple.
    public struct ChannelLost: Codable, Sendable, Hashable, ContractAnswer {
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

        package static let leftOut = ["variant"]

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
    }

    /// An audience has another channel than before. Apps must look it up again.
    public struct ChannelReplaced: Codable, Sendable, Hashable, ContractAnswer {
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

        package static let leftOut = ["variant"]

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
    }

    /// The channel that another one replaced.
    public struct ReplacedChannel: Codable, Sendable, Hashable, ContractAnswer {
        /// The server's ID of the resource.
        public var id: String
        /// Apple's ID of it.
        public var channelId: String?

        /// Members that are `nil` are left out.
        public init(id: String, channelId: String? = nil) {
            self.id = id
            self.channelId = channelId
        }
    }

    /// The level of an app's quota changed.
    public struct QuotaLevelChanged: Codable, Sendable, Hashable, ContractAnswer {
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
    }

    /// A reconciliation found something new, changed something, or raised an alarm. GET of its report has the details.
    public struct ReconciliationFound: Codable, Sendable, Hashable, ContractAnswer {
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
    }

    /// The app lacks the broadcast capability at Apple.
    public struct CapabilityOff: Codable, Sendable, Hashable {
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
    }

    /// APNs began to throttle an app. It answered 429 to several of its lanes.
    public struct ThrottleBegan: Codable, Sendable, Hashable {
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
    }

    /// APNs no longer throttles an app. No 429 came for 300 seconds.
    public struct ThrottleEnded: Codable, Sendable, Hashable {
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
    }

    /// Somebody sent a test to the webhook.
    public struct WebhookTest: Codable, Sendable, Hashable {
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
    }
}
