// Generated from openapi.yaml by `make contract`. Do not edit.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// The state of the message to one audience.
    public enum DeliveryState: ContractWord {
        /// Its audience has no channel yet.
        case waiting
        /// It waits for its turn, or for the next attempt.
        case queued
        /// A request to APNs is under way.
        case sending
        /// APNs answered 200 and passes it on. That does not mean that a device showed it.
        case accepted
        /// A newer message was sent instead.
        case superseded
        /// It expired before APNs accepted it.
        case expired
        /// APNs refused it for good. reason says why.
        case rejected
        /// It was withdrawn, or its event was over before it was sent.
        case cancelled
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [
            .waiting, .queued, .sending, .accepted, .superseded, .expired, .rejected, .cancelled,
        ]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .waiting: "waiting"
            case .queued: "queued"
            case .sending: "sending"
            case .accepted: "accepted"
            case .superseded: "superseded"
            case .expired: "expired"
            case .rejected: "rejected"
            case .cancelled: "cancelled"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// The state of a broadcast, from all of its deliveries.
    public enum BroadcastState: ContractWord {
        /// It waits for its sendAt.
        case scheduled
        /// Some delivery has no final state yet.
        case queued
        /// Every delivery has its final state.
        case done
        /// Nothing was sent and nothing will be sent. It was withdrawn, or its event was cancelled or over before.
        case cancelled
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.scheduled, .queued, .done, .cancelled]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .scheduled: "scheduled"
            case .queued: "queued"
            case .done: "done"
            case .cancelled: "cancelled"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
    public enum BroadcastKind: ContractWord {
        /// Changes the content that they show.
        case update
        /// Ends them. The event is over after it.
        case end
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.update, .end]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .update: "update"
            case .end: "end"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// How a message reaches its devices.
    public enum DeliveryKind: ContractWord {
        /// By one push to a broadcast channel.
        case channel
        /// By a push to each activity that has an update token and no channel.
        case tokens
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.channel, .tokens]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .channel: "channel"
            case .tokens: "tokens"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// What the server did with a state.
    public enum StateOutcome: ContractWord {
        /// The same as the newest accepted content. Nothing is sent.
        case unchanged
        /// Only quiet members differ. It is sent with priority 5, at most once in quietInterval; the newest one is
        /// sent.
        case quiet
        /// Something else differs. It is sent at once with priority 10.
        case update
        /// A rule of the content type matches. It is sent at once with priority 10 and the rule's alert.
        case rings
        /// The state was the final one. The event is over after it. If a rule matches, the end has its alert.
        case end
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.unchanged, .quiet, .update, .rings, .end]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .unchanged: "unchanged"
            case .quiet: "quiet"
            case .update: "update"
            case .rings: "rings"
            case .end: "end"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// How a message came to the server.
    public enum MessageSource: ContractWord {
        /// An organiser sent it as a message.
        case broadcast
        /// The server made it from a state of the event (PUT /v1/events/{key}/state).
        case state
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.broadcast, .state]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .broadcast: "broadcast"
            case .state: "state"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// The whole state of an event, as a feed has it.
    public struct StateDraft: Codable, Sendable, Hashable {
        /// What activities show. It reaches the app byte for byte.
        public var contentState: RawJSON
        /// A number that rises with each state of the feed. A number that is not above the last of the same
        /// sequenceEpoch is refused with 409 stale-state; the same number with the content of the last state is
        /// accepted, and sent only if something else was sent since. Left out: states count in the order of arrival.
        public var sequence: Int?
        /// For a feed whose sequence began anew: a number above that of its states before, such as the Unix time at
        /// which the feed started. Its states then count whatever their sequence; those of a lower epoch are refused.
        /// Left out: the epoch of the last state, at first 0.
        public var sequenceEpoch: Int?
        /// true: this is the last state, so the server sends an end with this content, and with the alert of a rule
        /// that matches.
        public var final: Bool?
        /// Only these audiences of the event. Left out: all.
        public var audiences: [AudienceSelector]?
        /// What audiences of some variants show instead of contentState.
        public var byVariant: [String: VariantState]?

        /// Members that are `nil` are left out.
        public init(
            contentState: RawJSON, sequence: Int? = nil, sequenceEpoch: Int? = nil, final: Bool? = nil,
            audiences: [AudienceSelector]? = nil, byVariant: [String: VariantState]? = nil
        ) {
            self.contentState = contentState
            self.sequence = sequence
            self.sequenceEpoch = sequenceEpoch
            self.final = final
            self.audiences = audiences
            self.byVariant = byVariant
        }
    }

    /// What the audiences of one variant show instead.
    public struct VariantState: Codable, Sendable, Hashable {
        /// It reaches the app byte for byte.
        public var contentState: RawJSON?

        /// Members that are `nil` are left out.
        public init(contentState: RawJSON? = nil) {
            self.contentState = contentState
        }
    }

    /// The broadcast that a state became, or that nothing has changed.
    public enum StateAnswer: Codable, Sendable, Hashable {
        case accepted(Broadcast)
        case unchanged(UnchangedState)

        /// Decodes the first alternative that fits.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Broadcast.self) {
                self = .accepted(value)
                return
            }
            self = .unchanged(try container.decode(UnchangedState.self))
        }

        /// Encodes the alternative.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .accepted(let value): try container.encode(value)
            case .unchanged(let value): try container.encode(value)
            }
        }
    }

    /// The answer to a state that changes nothing.
    public struct UnchangedState: Codable, Sendable, Hashable {
        /// What the server did with a state.
        public var outcome: StateOutcome

        /// Members that are `nil` are left out.
        public init(outcome: StateOutcome) {
            self.outcome = outcome
        }
    }

    /// What a state would send now.
    public struct StatePreview: Codable, Sendable, Hashable, ContractAnswer {
        /// What the server did with a state.
        public var outcome: StateOutcome
        /// The index in rings of the rule that matches, from 0. null: none.
        public var rule: Int?
        /// When it would be sent. null: it would not be sent.
        public var goesAt: Date?
        /// What each audience would get. Empty where nothing is sent.
        public var audiences: [AudiencePreview]
        /// As in the answer to a broadcast.
        public var warnings: [String]

        /// Members that are `nil` are left out.
        public init(
            outcome: StateOutcome, rule: Int? = nil, goesAt: Date? = nil, audiences: [AudiencePreview],
            warnings: [String]
        ) {
            self.outcome = outcome
            self.rule = rule
            self.goesAt = goesAt
            self.audiences = audiences
            self.warnings = warnings
        }
    }

    /// When a broadcast is sent: at a time, or a number of seconds after startsAt of its event. The latter moves with
    /// the event while the broadcast is scheduled, and waits while startsAt is unset. It is refused if the event has no
    /// startsAt when the broadcast is made. A time in the past means at once.
    public enum SendTime: Codable, Sendable, Hashable {
        case at(Date)
        case afterStart(AfterStart)

        /// Decodes the first alternative that fits.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Date.self) {
                self = .at(value)
                return
            }
            self = .afterStart(try container.decode(AfterStart.self))
        }

        /// Encodes the alternative.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .at(let value): try container.encode(value)
            case .afterStart(let value): try container.encode(value)
            }
        }
    }

    /// A time relative to the start of the event.
    public struct AfterStart: Codable, Sendable, Hashable {
        /// Seconds from startsAt of the event, negative for a time before it. At most a year.
        public var afterStart: Int

        /// Members that are `nil` are left out.
        public init(afterStart: Int) {
            self.afterStart = afterStart
        }
    }

    /// A message to everybody who follows an event, or to a channel.
    public struct BroadcastDraft: Codable, Sendable, Hashable {
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// What activities show. It reaches the app byte for byte. Required for an update without sendAt; an end
        /// without it leaves what is shown. A message with sendAt is sent with the newest content that was accepted
        /// after it, and with this one if there is none or if both are too long together. An update without it takes
        /// the newest content.
        public var contentState: RawJSON?
        /// The alert. It reaches the app byte for byte.
        public var alert: RawJSON?
        /// What audiences of some variants get instead of contentState, of alert or of both.
        public var byVariant: [String: VariantContent]?
        /// Only these audiences of the event. Left out: all. Not for a channel without an event.
        public var audiences: [AudienceSelector]?
        /// How urgently APNs passes it on: 10 at once, 5 with regard to the battery, 1 the lowest. Left out, the
        /// audience's priority, then the event's default, then 10 for an end or an alert and 5 for other updates.
        public var priority: Int?
        /// Seconds for which it is worth sending. After that the server stops trying, and APNs keeps it no longer for
        /// devices that are offline. Left out, the event's default for updates, else eight hours. Not together with
        /// apnsExpiration.
        public var expiresIn: Int?
        /// The header apns-expiration itself, in seconds since 1970, or 0 for one attempt that is not stored. expiresIn
        /// suits most. Not together with expiresIn.
        public var apnsExpiration: Int?
        /// From when on the system marks the content as out of date. Fractions of seconds are cut off.
        public var staleDate: Date?
        /// Only with end: when the system removes the ended activity, at most four hours after it is sent, because
        /// Apple keeps it no longer. A past time removes it at once.
        public var dismissalDate: Date?
        /// Orders an app's activities: the one with the highest score is shown first.
        public var relevanceScore: RawJSON?
        /// When it is sent. Left out: at once.
        public var sendAt: SendTime?

        /// Members that are `nil` are left out.
        public init(
            event: BroadcastKind, contentState: RawJSON? = nil, alert: RawJSON? = nil,
            byVariant: [String: VariantContent]? = nil, audiences: [AudienceSelector]? = nil, priority: Int? = nil,
            expiresIn: Int? = nil, apnsExpiration: Int? = nil, staleDate: Date? = nil, dismissalDate: Date? = nil,
            relevanceScore: RawJSON? = nil, sendAt: SendTime? = nil
        ) {
            self.event = event
            self.contentState = contentState
            self.alert = alert
            self.byVariant = byVariant
            self.audiences = audiences
            self.priority = priority
            self.expiresIn = expiresIn
            self.apnsExpiration = apnsExpiration
            self.staleDate = staleDate
            self.dismissalDate = dismissalDate
            self.relevanceScore = relevanceScore
            self.sendAt = sendAt
        }
    }

    /// What the audiences of one variant get instead.
    public struct VariantContent: Codable, Sendable, Hashable {
        /// What they show. It reaches the app byte for byte.
        public var contentState: RawJSON?
        /// Their alert. It reaches the app byte for byte.
        public var alert: RawJSON?

        /// Members that are `nil` are left out.
        public init(contentState: RawJSON? = nil, alert: RawJSON? = nil) {
            self.contentState = contentState
            self.alert = alert
        }
    }

    /// A broadcast of a batch.
    public struct BroadcastItem: Codable, Sendable, Hashable {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// What activities show. It reaches the app byte for byte. Required for an update without sendAt; an end
        /// without it leaves what is shown. A message with sendAt is sent with the newest content that was accepted
        /// after it, and with this one if there is none or if both are too long together. An update without it takes
        /// the newest content.
        public var contentState: RawJSON?
        /// The alert. It reaches the app byte for byte.
        public var alert: RawJSON?
        /// What audiences of some variants get instead of contentState, of alert or of both.
        public var byVariant: [String: VariantContent]?
        /// Only these audiences of the event. Left out: all.
        public var audiences: [AudienceSelector]?
        /// How urgently APNs passes it on, as of a single broadcast.
        public var priority: Int?
        /// Seconds for which it is worth sending, as of a single broadcast. Not together with apnsExpiration.
        public var expiresIn: Int?
        /// The header apns-expiration itself, as of a single broadcast. Not together with expiresIn.
        public var apnsExpiration: Int?
        /// From when on the system marks the content as out of date. Fractions of seconds are cut off.
        public var staleDate: Date?
        /// Only with end: when the system removes the ended activity, at most four hours after it is sent. A past time
        /// removes it at once.
        public var dismissalDate: Date?
        /// Orders an app's activities: the one with the highest score is shown first.
        public var relevanceScore: RawJSON?
        /// When it is sent. Left out: at once.
        public var sendAt: SendTime?

        /// The members of the other object, and these.
        public init(eventKey: String, _ base: BroadcastDraft) {
            self.eventKey = eventKey
            self.event = base.event
            self.contentState = base.contentState
            self.alert = base.alert
            self.byVariant = base.byVariant
            self.audiences = base.audiences
            self.priority = base.priority
            self.expiresIn = base.expiresIn
            self.apnsExpiration = base.apnsExpiration
            self.staleDate = base.staleDate
            self.dismissalDate = base.dismissalDate
            self.relevanceScore = base.relevanceScore
            self.sendAt = base.sendAt
        }
    }

    /// Broadcasts that are accepted in one commit, each on its own.
    public struct BroadcastBatch: Codable, Sendable, Hashable {
        /// The broadcasts. A fault in one concerns only that one.
        public var items: [BroadcastItem]

        /// Members that are `nil` are left out.
        public init(items: [BroadcastItem]) {
            self.items = items
        }
    }

    /// The result of each broadcast of a batch.
    public struct BroadcastBatchResult: Codable, Sendable, Hashable {
        /// One for each of the request, in its order.
        public var items: [BroadcastOutcome]

        /// Members that are `nil` are left out.
        public init(items: [BroadcastOutcome]) {
            self.items = items
        }
    }

    /// A broadcast of a batch that was accepted, or why it was refused.
    public enum BroadcastOutcome: Codable, Sendable, Hashable {
        case accepted(Broadcast)
        case refused(RefusedBroadcast)

        /// Decodes the first alternative that fits.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Broadcast.self) {
                self = .accepted(value)
                return
            }
            self = .refused(try container.decode(RefusedBroadcast.self))
        }

        /// Encodes the alternative.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .accepted(let value): try container.encode(value)
            case .refused(let value): try container.encode(value)
            }
        }
    }

    /// A broadcast of a batch that was refused.
    public struct RefusedBroadcast: Codable, Sendable, Hashable {
        /// A refusal (RFC 9457). type ends in a ProblemKind, which programs compare; title and detail are for people.
        /// The members after apns come only with some kinds, which x-problems of ProblemKind lists.
        public var problem: Problem

        /// Members that are `nil` are left out.
        public init(problem: Problem) {
            self.problem = problem
        }
    }

    /// An accepted broadcast and its deliveries.
    public struct Broadcast: Codable, Sendable, Hashable, ContractAnswer {
        /// The server's ID of the resource.
        public var id: String
        /// Its event. null: it went to a channel without an event.
        public var eventKey: String?
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// The state of a broadcast, from all of its deliveries.
        public var state: BroadcastState
        /// When it was accepted. From then on it is durable.
        public var acceptedAt: Date
        /// When it is or was sent, if not at once. Absent while the event has no startsAt that it counts from.
        public var sendAt: Date?
        /// Seconds from startsAt of the event to sendAt, if it was asked for so.
        public var afterStart: Int?
        /// Who asked for it, as actor of the audit log. null: it was not recorded.
        public var by: String?
        /// Who withdrew it, as actor of the audit log. Absent: nobody did, or it was not recorded.
        public var withdrawnBy: String?
        /// How many deliveries are in each state. States without any are left out.
        public var counts: [String: Int]
        /// One for each channel, and one for the tokens of each app and environment that has some. Empty until its
        /// sendAt.
        public var deliveries: [Delivery]
        /// What may not be meant: a sendAt that is past or after endsAt, a staleDate that is past when it is sent, a
        /// contentState that is long for a device, audiences that got their end, a channel for which there is no place,
        /// an alert of a rule that was left out because its title was empty.
        public var warnings: [String]
        /// How a message came to the server.
        public var source: MessageSource?
        /// Of a message that the server made of a state: what the state came to.
        public var outcome: StateOutcome?
        /// If the message is from a state: the index in rings of the rule that matched, from 0. Otherwise null.
        public var rule: Int?
        /// The request with the event's defaults, as a body that sends it once more; without sendAt. Its contentState
        /// is its own, also if newer content was sent in its place. Only where one broadcast is read.
        public var message: BroadcastDraft?

        package static let leftOut = ["sendAt", "afterStart", "withdrawnBy", "source", "outcome", "message"]

        /// Members that are `nil` are left out.
        public init(
            id: String, eventKey: String? = nil, event: BroadcastKind, state: BroadcastState, acceptedAt: Date,
            sendAt: Date? = nil, afterStart: Int? = nil, by: String? = nil, withdrawnBy: String? = nil,
            counts: [String: Int], deliveries: [Delivery], warnings: [String], source: MessageSource? = nil,
            outcome: StateOutcome? = nil, rule: Int? = nil, message: BroadcastDraft? = nil
        ) {
            self.id = id
            self.eventKey = eventKey
            self.event = event
            self.state = state
            self.acceptedAt = acceptedAt
            self.sendAt = sendAt
            self.afterStart = afterStart
            self.by = by
            self.withdrawnBy = withdrawnBy
            self.counts = counts
            self.deliveries = deliveries
            self.warnings = warnings
            self.source = source
            self.outcome = outcome
            self.rule = rule
            self.message = message
        }
    }

    /// A page of broadcasts.
    public typealias BroadcastPage = Page<Broadcast>

    /// What a broadcast would send if it were accepted now.
    public struct BroadcastPreview: Codable, Sendable, Hashable {
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// When it would be sent: now, or at its sendAt.
        public var goesAt: Date
        /// Whether it would wait for its sendAt.
        public var isScheduled: Bool
        /// When the server would stop trying.
        public var expiresAt: Date
        /// What each audience would get, in the order of the event.
        public var audiences: [AudiencePreview]
        /// As in the answer to a broadcast.
        public var warnings: [String]

        /// Members that are `nil` are left out.
        public init(
            event: BroadcastKind, goesAt: Date, isScheduled: Bool, expiresAt: Date, audiences: [AudiencePreview],
            warnings: [String]
        ) {
            self.event = event
            self.goesAt = goesAt
            self.isScheduled = isScheduled
            self.expiresAt = expiresAt
            self.audiences = audiences
            self.warnings = warnings
        }
    }

    /// What one audience would get.
    public struct AudiencePreview: Codable, Sendable, Hashable, ContractAnswer {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The audience's variant, if it has one.
        public var variant: String?
        /// How a message reaches its devices.
        public var kind: DeliveryKind
        /// The header apns-priority.
        public var priority: Int
        /// The header apns-expiration: seconds since 1970, or 0.
        public var apnsExpiration: Int
        /// The size of the body that APNs would get.
        public var bytes: Int
        /// The bytes that APNs allows there: 5,120 for a channel, 4,096 for tokens.
        public var limit: Int
        /// The body that APNs would get. Its timestamp is that of goesAt.
        public var payload: RawJSON
        /// What a lock screen would show, by the app's templates. null: the app has none, or there is no content.
        public var preview: RenderedPreview?
        /// Broadcasts that wait for their turn and would not be sent.
        public var replaces: [String]

        package static let leftOut = ["variant"]

        /// Members that are `nil` are left out.
        public init(
            bundleId: String, environment: Environment, variant: String? = nil, kind: DeliveryKind, priority: Int,
            apnsExpiration: Int, bytes: Int, limit: Int, payload: RawJSON, preview: RenderedPreview? = nil,
            replaces: [String]
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.kind = kind
            self.priority = priority
            self.apnsExpiration = apnsExpiration
            self.bytes = bytes
            self.limit = limit
            self.payload = payload
            self.preview = preview
            self.replaces = replaces
        }
    }

    /// A content as text, by the app's templates.
    public struct RenderedPreview: Codable, Sendable, Hashable {
        /// One line, if the app has a template for it.
        public var compact: String?
        /// Several lines, if the app has a template for them.
        public var expanded: String?

        /// Members that are `nil` are left out.
        public init(compact: String? = nil, expanded: String? = nil) {
            self.compact = compact
            self.expanded = expanded
        }
    }

    /// The message of a broadcast to one audience.
    public struct Delivery: Codable, Sendable, Hashable, ContractAnswer {
        /// tokens: to the activities of an app and environment that have an update token and no channel, counted in
        /// counts. rejected with PayloadTooLarge there: a push to a token has at most 4,096 bytes. The channel gets the
        /// message all the same, and the broadcast has a warning.
        public var kind: DeliveryKind
        /// Only for a delivery to tokens: activities by the result of their push. An activity that was not reached
        /// before a newer message gets the newer one instead. The answer to a call with an Idempotency-Key has not
        /// counted them yet.
        public var counts: TokenCounts?
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The audience's variant, if it has one. Of tokens: the variant whose content they get.
        public var variant: String?
        /// Apple's ID of the channel. null: there is none yet, or it goes to tokens.
        public var channelId: String?
        /// The state of the message to one audience.
        public var state: DeliveryState
        /// Requests made to APNs.
        public var attempts: Int
        /// The header apns-priority.
        public var priority: Int
        /// The header apns-expiration: seconds since 1970, or 0.
        public var apnsExpiration: Int
        /// aps.timestamp, in seconds since 1970. null until it is first sent. Retries keep it.
        public var timestamp: Int?
        /// The header apns-request-id of the newest attempt.
        public var apnsRequestId: String?
        /// apns-unique-id of APNs' answer, with which Apple's console finds the push.
        public var apnsUniqueId: String?
        /// Why it waits or failed, as Apple's word or as a sentence of the server.
        public var reason: String?
        /// When it is tried next.
        public var nextAttemptAt: Date?
        /// When it got its final state. null: it has none yet.
        public var settledAt: Date?
        /// Milliseconds from its acceptance, or from its sendAt, to the answer of APNs that settled it; of tokens, to
        /// the last one. Absent where APNs did not answer.
        public var answerMilliseconds: Int?
        /// Of one that is superseded: the broadcast that was sent instead, if that is known.
        public var supersededBy: String?

        package static let leftOut = ["counts", "variant", "answerMilliseconds", "supersededBy"]

        /// Members that are `nil` are left out.
        public init(
            kind: DeliveryKind, counts: TokenCounts? = nil, bundleId: String, environment: Environment,
            variant: String? = nil, channelId: String? = nil, state: DeliveryState, attempts: Int, priority: Int,
            apnsExpiration: Int, timestamp: Int? = nil, apnsRequestId: String? = nil, apnsUniqueId: String? = nil,
            reason: String? = nil, nextAttemptAt: Date? = nil, settledAt: Date? = nil, answerMilliseconds: Int? = nil,
            supersededBy: String? = nil
        ) {
            self.kind = kind
            self.counts = counts
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.channelId = channelId
            self.state = state
            self.attempts = attempts
            self.priority = priority
            self.apnsExpiration = apnsExpiration
            self.timestamp = timestamp
            self.apnsRequestId = apnsRequestId
            self.apnsUniqueId = apnsUniqueId
            self.reason = reason
            self.nextAttemptAt = nextAttemptAt
            self.settledAt = settledAt
            self.answerMilliseconds = answerMilliseconds
            self.supersededBy = supersededBy
        }
    }

    /// Only for a delivery to tokens: activities by the result of their push. An activity that was not reached before a
    /// newer message gets the newer one instead. The answer to a call with an Idempotency-Key has not counted them yet.
    public struct TokenCounts: Codable, Sendable, Hashable {
        /// All activities that it was sent to or will be sent to.
        public var total: Int
        /// APNs answered 200. That does not mean that it was shown.
        public var accepted: Int
        /// APNs refused them for good, also with BadDeviceToken and DeviceTokenNotForTopic.
        public var rejected: Int
        /// Their tokens are no longer valid.
        public var gone: Int
        /// The message expired before they were reached.
        public var expired: Int
        /// Not answered yet, or to be sent.
        public var pending: Int

        /// Members that are `nil` are left out.
        public init(total: Int, accepted: Int, rejected: Int, gone: Int, expired: Int, pending: Int) {
            self.total = total
            self.accepted = accepted
            self.rejected = rejected
            self.gone = gone
            self.expired = expired
            self.pending = pending
        }
    }
}
