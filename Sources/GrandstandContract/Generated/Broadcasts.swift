// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// The state of the message to one audience.
    public struct DeliveryState: ContractWord {
        /// Its audience has no channel yet.
        public static let waiting = Self(rawValue: "waiting")
        /// It waits for its turn, or for the next attempt.
        public static let queued = Self(rawValue: "queued")
        /// A request to APNs is under way.
        public static let sending = Self(rawValue: "sending")
        /// APNs answered 200 and passes it on. That does not mean that a device showed it.
        public static let accepted = Self(rawValue: "accepted")
        /// A newer message was sent instead.
        public static let superseded = Self(rawValue: "superseded")
        /// It expired before APNs accepted it.
        public static let expired = Self(rawValue: "expired")
        /// APNs refused it for good. reason says why.
        public static let rejected = Self(rawValue: "rejected")
        /// It was withdrawn, or its event was over before it was sent.
        public static let cancelled = Self(rawValue: "cancelled")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .waiting,
            .queued,
            .sending,
            .accepted,
            .superseded,
            .expired,
            .rejected,
            .cancelled,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The state of a broadcast, from all of its deliveries.
    public struct BroadcastState: ContractWord {
        /// It waits for its sendAt.
        public static let scheduled = Self(rawValue: "scheduled")
        /// Some delivery has no final state yet.
        public static let queued = Self(rawValue: "queued")
        /// Every delivery has its final state.
        public static let done = Self(rawValue: "done")
        /// Nothing was sent and nothing will be sent. It was withdrawn, or its event was cancelled or over before.
        public static let cancelled = Self(rawValue: "cancelled")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .scheduled,
            .queued,
            .done,
            .cancelled,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
    public struct BroadcastKind: ContractWord {
        /// Changes the content that they show.
        public static let update = Self(rawValue: "update")
        /// Ends them. The event is over after it.
        public static let end = Self(rawValue: "end")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .update,
            .end,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How a message reaches its devices.
    public struct DeliveryKind: ContractWord {
        /// By one push to a broadcast channel.
        public static let channel = Self(rawValue: "channel")
        /// By a push to each activity that has an update token and no channel.
        public static let tokens = Self(rawValue: "tokens")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .channel,
            .tokens,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What the server did with a state.
    public struct StateOutcome: ContractWord {
        /// The same as the newest accepted content. Nothing is sent.
        public static let unchanged = Self(rawValue: "unchanged")
        /// Only quiet members differ. It is sent with priority 5, at most once in quietInterval; the newest one is
        /// sent.
        public static let quiet = Self(rawValue: "quiet")
        /// Something else differs. It is sent at once with priority 10.
        public static let update = Self(rawValue: "update")
        /// A rule of the content type matches. It is sent at once with priority 10 and the rule's alert.
        public static let rings = Self(rawValue: "rings")
        /// The state was the final one. The event is over after it. If a rule matches, the end has its alert.
        public static let end = Self(rawValue: "end")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .unchanged,
            .quiet,
            .update,
            .rings,
            .end,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// How a message came to the server.
    public struct MessageSource: ContractWord {
        /// An organiser sent it as a message.
        public static let broadcast = Self(rawValue: "broadcast")
        /// The server made it from a state of the event (PUT /v1/events/{key}/state).
        public static let state = Self(rawValue: "state")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .broadcast,
            .state,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The whole state of an event, as a feed has it.
    public struct StateDraft: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            contentState = try object.required("contentState")
            sequence = try object.optional("sequence")
            sequenceEpoch = try object.optional("sequenceEpoch")
            final = try object.optional("final")
            audiences = try object.optional("audiences")
            byVariant = try object.optional("byVariant")
        }

        package func write(members object: inout JSONWriter) {
            object.member("contentState", contentState)
            if let sequence { object.member("sequence", sequence) }
            if let sequenceEpoch { object.member("sequenceEpoch", sequenceEpoch) }
            if let final { object.member("final", final) }
            if let audiences { object.member("audiences", audiences) }
            if let byVariant { object.member("byVariant", byVariant) }
        }
    }

    /// What the audiences of one variant show instead.
    public struct VariantState: Sendable, Hashable, Codable, ContractObject {
        /// It reaches the app byte for byte.
        public var contentState: RawJSON?

        /// Members that are `nil` are left out.
        public init(contentState: RawJSON? = nil) {
            self.contentState = contentState
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            contentState = try object.optional("contentState")
        }

        package func write(members object: inout JSONWriter) {
            if let contentState { object.member("contentState", contentState) }
        }
    }

    /// The broadcast that a state became, or that nothing has changed.
    public enum StateAnswer: Sendable, Hashable, Codable, ContractValue {
        case accepted(Broadcast)
        case unchanged(UnchangedState)

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(json: JSONValue) throws {
            if let value = try? Broadcast(json: json) {
                self = .accepted(value)
                return
            }
            self = .unchanged(try UnchangedState(json: json))
        }

        package func write(to json: inout JSONWriter) {
            switch self {
            case .accepted(let value): value.write(to: &json)
            case .unchanged(let value): value.write(to: &json)
            }
        }
    }

    /// The answer to a state that changes nothing.
    public struct UnchangedState: Sendable, Hashable, Codable, ContractObject {
        /// What the server did with a state.
        public var outcome: StateOutcome

        /// Members that are `nil` are left out.
        public init(outcome: StateOutcome) {
            self.outcome = outcome
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            outcome = try object.required("outcome")
        }

        package func write(members object: inout JSONWriter) {
            object.member("outcome", outcome.rawValue)
        }
    }

    /// What a state would send now.
    public struct StatePreview: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            outcome = try object.required("outcome")
            rule = try object.optional("rule")
            goesAt = try object.optional("goesAt")
            audiences = try object.required("audiences")
            warnings = try object.required("warnings")
        }

        package func write(members object: inout JSONWriter) {
            object.member("outcome", outcome.rawValue)
            object.member("rule", rule)
            object.member("goesAt", goesAt)
            object.member("audiences", audiences)
            object.member("warnings", warnings)
        }
    }

    /// When a broadcast is sent: at a time, or a number of seconds after startsAt of its event. The latter moves with
    /// the event while the broadcast is scheduled, and waits while startsAt is unset. It is refused if the event has no
    /// startsAt when the broadcast is made. A time in the past means at once.
    public enum SendTime: Sendable, Hashable, Codable, ContractValue {
        case at(Date)
        case afterStart(AfterStart)

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(json: JSONValue) throws {
            if let value = try? Date(json: json) {
                self = .at(value)
                return
            }
            self = .afterStart(try AfterStart(json: json))
        }

        package func write(to json: inout JSONWriter) {
            switch self {
            case .at(let value): value.write(to: &json)
            case .afterStart(let value): value.write(to: &json)
            }
        }
    }

    /// A time relative to the start of the event.
    public struct AfterStart: Sendable, Hashable, Codable, ContractObject {
        /// Seconds from startsAt of the event, negative for a time before it. At most a year.
        public var afterStart: Int

        /// Members that are `nil` are left out.
        public init(afterStart: Int) {
            self.afterStart = afterStart
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            afterStart = try object.required("afterStart")
        }

        package func write(members object: inout JSONWriter) {
            object.member("afterStart", afterStart)
        }
    }

    /// A message to everybody who follows an event, or to a channel.
    public struct BroadcastDraft: Sendable, Hashable, Codable, ContractObject {
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// What activities show. It reaches the app byte for byte. Required for an update without sendAt; an end
        /// without it leaves what is shown. A message with sendAt is sent with the newest content that was accepted
        /// after it, and with this one if there is none or if both are too long together. An update without it takes
        /// the newest content.
        public var contentState: RawJSON?
        /// The alert. It reaches the app byte for byte.
        public var alert: Alert?
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
        public var relevanceScore: Double? {
            get { relevanceScoreText?.value }
            set { relevanceScoreText = newValue.map(KeptNumber.init) }
        }
        /// Its text, as it was read.
        package var relevanceScoreText: KeptNumber?
        /// When it is sent. Left out: at once.
        public var sendAt: SendTime?

        /// Members that are `nil` are left out.
        public init(
            event: BroadcastKind, contentState: RawJSON? = nil, alert: Alert? = nil,
            byVariant: [String: VariantContent]? = nil, audiences: [AudienceSelector]? = nil, priority: Int? = nil,
            expiresIn: Int? = nil, apnsExpiration: Int? = nil, staleDate: Date? = nil, dismissalDate: Date? = nil,
            relevanceScore: Double? = nil, sendAt: SendTime? = nil
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
            relevanceScoreText = relevanceScore.map(KeptNumber.init)
            self.sendAt = sendAt
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            event = try object.required("event")
            contentState = try object.optional("contentState")
            alert = try object.optional("alert")
            byVariant = try object.optional("byVariant")
            audiences = try object.optional("audiences")
            priority = try object.optional("priority")
            expiresIn = try object.optional("expiresIn")
            apnsExpiration = try object.optional("apnsExpiration")
            staleDate = try object.optional("staleDate")
            dismissalDate = try object.optional("dismissalDate")
            relevanceScoreText = try object.optional("relevanceScore")
            sendAt = try object.optional("sendAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("event", event.rawValue)
            if let contentState { object.member("contentState", contentState) }
            if let alert { object.member("alert", alert) }
            if let byVariant { object.member("byVariant", byVariant) }
            if let audiences { object.member("audiences", audiences) }
            if let priority { object.member("priority", priority) }
            if let expiresIn { object.member("expiresIn", expiresIn) }
            if let apnsExpiration { object.member("apnsExpiration", apnsExpiration) }
            if let staleDate { object.member("staleDate", staleDate) }
            if let dismissalDate { object.member("dismissalDate", dismissalDate) }
            if let relevanceScoreText { object.member("relevanceScore", relevanceScoreText) }
            if let sendAt { object.member("sendAt", sendAt) }
        }
    }

    /// What the audiences of one variant get instead.
    public struct VariantContent: Sendable, Hashable, Codable, ContractObject {
        /// What they show. It reaches the app byte for byte.
        public var contentState: RawJSON?
        /// Their alert. It reaches the app byte for byte.
        public var alert: Alert?

        /// Members that are `nil` are left out.
        public init(contentState: RawJSON? = nil, alert: Alert? = nil) {
            self.contentState = contentState
            self.alert = alert
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            contentState = try object.optional("contentState")
            alert = try object.optional("alert")
        }

        package func write(members object: inout JSONWriter) {
            if let contentState { object.member("contentState", contentState) }
            if let alert { object.member("alert", alert) }
        }
    }

    /// A broadcast of a batch.
    public struct BroadcastItem: Sendable, Hashable, Codable, ContractObject {
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
        public var alert: Alert?
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
        public var relevanceScore: Double? {
            get { relevanceScoreText?.value }
            set { relevanceScoreText = newValue.map(KeptNumber.init) }
        }
        /// Its text, as it was read.
        package var relevanceScoreText: KeptNumber?
        /// When it is sent. Left out: at once.
        public var sendAt: SendTime?

        /// Members that are `nil` are left out.
        public init(
            eventKey: String, event: BroadcastKind, contentState: RawJSON? = nil, alert: Alert? = nil,
            byVariant: [String: VariantContent]? = nil, audiences: [AudienceSelector]? = nil, priority: Int? = nil,
            expiresIn: Int? = nil, apnsExpiration: Int? = nil, staleDate: Date? = nil, dismissalDate: Date? = nil,
            relevanceScore: Double? = nil, sendAt: SendTime? = nil
        ) {
            self.eventKey = eventKey
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
            relevanceScoreText = relevanceScore.map(KeptNumber.init)
            self.sendAt = sendAt
        }

        /// The same of what is said already.
        public init(eventKey: String, _ draft: BroadcastDraft) {
            self.eventKey = eventKey
            self.event = draft.event
            self.contentState = draft.contentState
            self.alert = draft.alert
            self.byVariant = draft.byVariant
            self.audiences = draft.audiences
            self.priority = draft.priority
            self.expiresIn = draft.expiresIn
            self.apnsExpiration = draft.apnsExpiration
            self.staleDate = draft.staleDate
            self.dismissalDate = draft.dismissalDate
            relevanceScoreText = draft.relevanceScoreText
            self.sendAt = draft.sendAt
        }

        /// All of it that the other has, too.
        package var draft: BroadcastDraft {
            var draft = BroadcastDraft(
                event: event, contentState: contentState, alert: alert, byVariant: byVariant, audiences: audiences,
                priority: priority, expiresIn: expiresIn, apnsExpiration: apnsExpiration, staleDate: staleDate,
                dismissalDate: dismissalDate, relevanceScore: relevanceScore, sendAt: sendAt)
            draft.relevanceScoreText = relevanceScoreText
            return draft
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            event = try object.required("event")
            contentState = try object.optional("contentState")
            alert = try object.optional("alert")
            byVariant = try object.optional("byVariant")
            audiences = try object.optional("audiences")
            priority = try object.optional("priority")
            expiresIn = try object.optional("expiresIn")
            apnsExpiration = try object.optional("apnsExpiration")
            staleDate = try object.optional("staleDate")
            dismissalDate = try object.optional("dismissalDate")
            relevanceScoreText = try object.optional("relevanceScore")
            sendAt = try object.optional("sendAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("event", event.rawValue)
            if let contentState { object.member("contentState", contentState) }
            if let alert { object.member("alert", alert) }
            if let byVariant { object.member("byVariant", byVariant) }
            if let audiences { object.member("audiences", audiences) }
            if let priority { object.member("priority", priority) }
            if let expiresIn { object.member("expiresIn", expiresIn) }
            if let apnsExpiration { object.member("apnsExpiration", apnsExpiration) }
            if let staleDate { object.member("staleDate", staleDate) }
            if let dismissalDate { object.member("dismissalDate", dismissalDate) }
            if let relevanceScoreText { object.member("relevanceScore", relevanceScoreText) }
            if let sendAt { object.member("sendAt", sendAt) }
        }
    }

    /// Broadcasts that are accepted in one commit, each on its own.
    public struct BroadcastBatch: Sendable, Hashable, Codable, ContractObject {
        /// The broadcasts. A fault in one concerns only that one.
        public var items: [BroadcastItem]

        /// Members that are `nil` are left out.
        public init(items: [BroadcastItem]) {
            self.items = items
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            items = try object.required("items")
        }

        package func write(members object: inout JSONWriter) {
            object.member("items", items)
        }
    }

    /// The result of each broadcast of a batch.
    public struct BroadcastBatchResult: Sendable, Hashable, Codable, ContractObject {
        /// One for each of the request, in its order.
        public var items: [BroadcastOutcome]

        /// Members that are `nil` are left out.
        public init(items: [BroadcastOutcome]) {
            self.items = items
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            items = try object.required("items")
        }

        package func write(members object: inout JSONWriter) {
            object.member("items", items)
        }
    }

    /// A broadcast of a batch that was accepted, or why it was refused.
    public enum BroadcastOutcome: Sendable, Hashable, Codable, ContractValue {
        case accepted(Broadcast)
        case refused(RefusedBroadcast)

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(json: JSONValue) throws {
            if let value = try? Broadcast(json: json) {
                self = .accepted(value)
                return
            }
            self = .refused(try RefusedBroadcast(json: json))
        }

        package func write(to json: inout JSONWriter) {
            switch self {
            case .accepted(let value): value.write(to: &json)
            case .refused(let value): value.write(to: &json)
            }
        }
    }

    /// A broadcast of a batch that was refused.
    public struct RefusedBroadcast: Sendable, Hashable, Codable, ContractObject {
        /// A refusal (RFC 9457). type ends in a ProblemKind, which programs compare; title and detail are for people.
        /// The members after apns come only with some kinds, which x-problems of ProblemKind lists.
        public var problem: Problem

        /// Members that are `nil` are left out.
        public init(problem: Problem) {
            self.problem = problem
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            problem = try object.required("problem")
        }

        package func write(members object: inout JSONWriter) {
            object.member("problem", problem)
        }
    }

    /// An accepted broadcast and its deliveries.
    public struct Broadcast: Sendable, Hashable, Codable, ContractObject {
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
        /// When it is or was sent, if not at once.
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
        /// The request with the event's defaults, as a body that sends it once more; without sendAt. Only where one
        /// broadcast is read.
        public var message: BroadcastDraft?

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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            eventKey = try object.optional("eventKey")
            event = try object.required("event")
            state = try object.required("state")
            acceptedAt = try object.required("acceptedAt")
            sendAt = try object.optional("sendAt")
            afterStart = try object.optional("afterStart")
            by = try object.optional("by")
            withdrawnBy = try object.optional("withdrawnBy")
            counts = try object.required("counts")
            deliveries = try object.required("deliveries")
            warnings = try object.required("warnings")
            source = try object.optional("source")
            outcome = try object.optional("outcome")
            rule = try object.optional("rule")
            message = try object.optional("message")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("eventKey", eventKey)
            object.member("event", event.rawValue)
            object.member("state", state.rawValue)
            object.member("acceptedAt", acceptedAt)
            if let sendAt { object.member("sendAt", sendAt) }
            if let afterStart { object.member("afterStart", afterStart) }
            object.member("by", by)
            if let withdrawnBy { object.member("withdrawnBy", withdrawnBy) }
            object.member("counts", counts)
            object.member("deliveries", deliveries)
            object.member("warnings", warnings)
            if let source { object.member("source", source.rawValue) }
            if let outcome { object.member("outcome", outcome.rawValue) }
            object.member("rule", rule)
            if let message { object.member("message", message) }
        }
    }

    /// A page of broadcasts.
    public typealias BroadcastPage = Page<Broadcast>

    /// What a broadcast would send if it were accepted now.
    public struct BroadcastPreview: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            event = try object.required("event")
            goesAt = try object.required("goesAt")
            isScheduled = try object.required("isScheduled")
            expiresAt = try object.required("expiresAt")
            audiences = try object.required("audiences")
            warnings = try object.required("warnings")
        }

        package func write(members object: inout JSONWriter) {
            object.member("event", event.rawValue)
            object.member("goesAt", goesAt)
            object.member("isScheduled", isScheduled)
            object.member("expiresAt", expiresAt)
            object.member("audiences", audiences)
            object.member("warnings", warnings)
        }
    }

    /// What one audience would get.
    public struct AudiencePreview: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            kind = try object.required("kind")
            priority = try object.required("priority")
            apnsExpiration = try object.required("apnsExpiration")
            bytes = try object.required("bytes")
            limit = try object.required("limit")
            payload = try object.required("payload")
            preview = try object.optional("preview")
            replaces = try object.required("replaces")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            if let variant { object.member("variant", variant) }
            object.member("kind", kind.rawValue)
            object.member("priority", priority)
            object.member("apnsExpiration", apnsExpiration)
            object.member("bytes", bytes)
            object.member("limit", limit)
            object.member("payload", payload)
            object.member("preview", preview)
            object.member("replaces", replaces)
        }
    }

    /// A content as text, by the app's templates.
    public struct RenderedPreview: Sendable, Hashable, Codable, ContractObject {
        /// One line, if the app has a template for it.
        public var compact: String?
        /// Several lines, if the app has a template for them.
        public var expanded: String?

        /// Members that are `nil` are left out.
        public init(compact: String? = nil, expanded: String? = nil) {
            self.compact = compact
            self.expanded = expanded
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            compact = try object.optional("compact")
            expanded = try object.optional("expanded")
        }

        package func write(members object: inout JSONWriter) {
            if let compact { object.member("compact", compact) }
            if let expanded { object.member("expanded", expanded) }
        }
    }

    /// The message of a broadcast to one audience.
    public struct Delivery: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            kind = try object.required("kind")
            counts = try object.optional("counts")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            channelId = try object.optional("channelId")
            state = try object.required("state")
            attempts = try object.required("attempts")
            priority = try object.required("priority")
            apnsExpiration = try object.required("apnsExpiration")
            timestamp = try object.optional("timestamp")
            apnsRequestId = try object.optional("apnsRequestId")
            apnsUniqueId = try object.optional("apnsUniqueId")
            reason = try object.optional("reason")
            nextAttemptAt = try object.optional("nextAttemptAt")
            settledAt = try object.optional("settledAt")
            answerMilliseconds = try object.optional("answerMilliseconds")
            supersededBy = try object.optional("supersededBy")
        }

        package func write(members object: inout JSONWriter) {
            object.member("kind", kind.rawValue)
            if let counts { object.member("counts", counts) }
            object.member("bundleId", bundleId)
            object.member("environment", environment.rawValue)
            if let variant { object.member("variant", variant) }
            object.member("channelId", channelId)
            object.member("state", state.rawValue)
            object.member("attempts", attempts)
            object.member("priority", priority)
            object.member("apnsExpiration", apnsExpiration)
            object.member("timestamp", timestamp)
            object.member("apnsRequestId", apnsRequestId)
            object.member("apnsUniqueId", apnsUniqueId)
            object.member("reason", reason)
            object.member("nextAttemptAt", nextAttemptAt)
            object.member("settledAt", settledAt)
            if let answerMilliseconds { object.member("answerMilliseconds", answerMilliseconds) }
            if let supersededBy { object.member("supersededBy", supersededBy) }
        }
    }

    /// Only for a delivery to tokens: activities by the result of their push. An activity that was not reached before a
    /// newer message gets the newer one instead. The answer to a call with an Idempotency-Key has not counted them yet.
    public struct TokenCounts: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            total = try object.required("total")
            accepted = try object.required("accepted")
            rejected = try object.required("rejected")
            gone = try object.required("gone")
            expired = try object.required("expired")
            pending = try object.required("pending")
        }

        package func write(members object: inout JSONWriter) {
            object.member("total", total)
            object.member("accepted", accepted)
            object.member("rejected", rejected)
            object.member("gone", gone)
            object.member("expired", expired)
            object.member("pending", pending)
        }
    }
}
