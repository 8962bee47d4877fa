internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// One message of an event in the timeline: one line, and the details that open below it.
struct TimelineEntry: Sendable {
    let id: String
    let acceptedAt: Moment
    /// `update` or `end`.
    let message: String
    let isEnd: Bool
    let state: String
    /// `scheduled` or `cancelled`; `nil` for every other state.
    let unusual: String?
    /// For a message that the server made from a reported state of the event: the outcome of the report, and the index
    /// of the content type's rule that matched, if a rule matched. `nil` for every other message.
    let stateOutcome: String?
    /// Who sent the message: the name of the key, or another actor.
    let by: String
    let goesAt: Moment?
    /// The content as the app's template shows it.
    let entryText: String?
    /// One line: the template's text, or else the beginning of the content's JSON.
    let gist: String
    /// The content and the alert as they were written, with their variants.
    let contents: [TimelineContent]
    /// The alert's title and body.
    let alertText: String?
    /// The audiences that get the message; `nil`: all audiences.
    let onlyFor: String?
    /// The state of the deliveries, as dots in the line.
    let dots: [DeliveryDot]
    let lines: [DeliveryLine]
    let warnings: [String]
    /// Advice about the first delivery that went wrong.
    let firstAdvice: String?
    /// The address of the form that withdraws the message; `nil`: the message cannot be withdrawn.
    let withdrawAction: String?
    let resendHref: String

    /// - Parameters:
    ///   - audiences: the event's audiences. The dots have the same order.
    ///   - previews: the templates by app. The entry uses the template of the message's first app that has a template.
    ///     If none of the message's apps has a template, it uses any template.
    init(
        _ broadcast: Contract.Broadcast, of key: EventKey, _ audiences: [Contract.EventAudience],
        _ previews: [BundleID: ContentPreview]
    ) {
        let contentState = broadcast.message?.contentState.map { Array($0.bytes) }
        id = broadcast.id
        acceptedAt = Moment(broadcast.acceptedAt, exact: true)
        message = broadcast.event.rawValue
        isEnd = broadcast.event == .end
        state = broadcast.state.rawValue
        unusual = [.scheduled, .cancelled].contains(broadcast.state) ? broadcast.state.rawValue : nil
        stateOutcome = broadcast.outcome?.words(rule: broadcast.rule)
        let actor = broadcast.by ?? ""
        by = actor.hasPrefix("key:") ? String(actor.dropFirst(4)) : actor
        goesAt = broadcast.sendAt.map { Moment($0) }
        let apps = broadcast.deliveries.lazy.compactMap { BundleID(rawValue: $0.bundleId) }
        let preview = apps.compactMap { previews[$0] }.first ?? previews.values.first
        entryText = preview?.shown(contentState).flatMap { $0.compact ?? $0.expanded }
        gist = Self.line(entryText ?? contentState.map { ReadableJSON.line($0) } ?? "")
        contents = broadcast.message.map(TimelineContent.all) ?? []
        alertText = broadcast.message?.alert.flatMap { Self.text(Array($0.bytes)) }
        onlyFor = broadcast.message?.audiences.map { $0.map(AudienceChoice.value).joined(separator: ", ") }
        dots = DeliveryDot.all(of: broadcast, audiences)
        lines = broadcast.deliveries.map { DeliveryLine($0) }
        firstAdvice = lines.lazy.compactMap(\.deliveryAdvice).first
        warnings = broadcast.warnings
        withdrawAction = broadcast.isWithdrawable ? ConsolePath.withdrawal(of: broadcast.uuid, key) : nil
        resendHref = ConsolePath.composer(key, from: broadcast.uuid)
    }

    /// The beginning of a text, in one line.
    private static func line(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.count > 120 ? line.prefix(119) + "…" : line
    }

    /// The alert's title and body, each as text or as its `loc-key`; the alert's JSON if the alert has neither title
    /// nor body.
    private static func text(_ alert: [UInt8]) -> String? {
        guard let json = try? JSONValue(parsing: alert) else { return nil }
        let parts = ["title", "body"].compactMap { name in json[name]?.string ?? json[name]?["loc-key"]?.string }
        return parts.isEmpty ? ReadableJSON.text(alert, maximumBytes: 500) : parts.joined(separator: " — ")
    }
}

extension Contract.StateOutcome {
    /// `rings by rule 0`
    func words(rule: Int?) -> String { rawValue + (rule.map { " by rule \($0)" } ?? "") }
}

/// The content or the alert of a message, for all audiences or for one variant.
struct TimelineContent: Sendable {
    /// `contentState`, `contentState for de`, `alert`, `alert for de`
    let heading: String
    let json: String

    private init(_ heading: String, _ json: RawJSON) {
        self.heading = heading
        self.json = ReadableJSON.text(Array(json.bytes))
    }

    static func all(_ message: Contract.BroadcastDraft) -> [TimelineContent] {
        let general = [message.contentState.map { Self("contentState", $0) }, message.alert.map { Self("alert", $0) }]
        let ofVariants = (message.byVariant ?? [:]).sorted { $0.key < $1.key }.flatMap { variant, own in
            [
                own.contentState.map { Self("contentState for \(variant)", $0) },
                own.alert.map { Self("alert for \(variant)", $0) },
            ]
        }
        return (general + ofVariants).compactMap(\.self)
    }
}

/// A short text about the deliveries of a message: the delivery to one audience, the number of deliveries in one state,
/// or the slowest answer.
struct DeliveryDot: Sendable, Equatable {
    /// The delivery's state, which selects sign and colour; empty if the message was not for the audience, and for the
    /// slowest answer.
    let dotState: String
    /// `41 ms`, `queued`, `12`
    let brief: String
    /// The meaning of `brief` in full words.
    let dotWords: String

    /// With up to this number of audiences, each audience has its own dot. With more audiences, the dots count
    /// deliveries by state.
    static let places = 3

    static func all(of broadcast: Contract.Broadcast, _ audiences: [Contract.EventAudience]) -> [DeliveryDot] {
        if audiences.count <= places, broadcast.deliveries.count <= places {
            return audiences.map { audience in
                let delivery = broadcast.deliveries.first { $0.isOf(audience) }
                return delivery.map { DeliveryDot($0) }
                    ?? DeliveryDot(dotState: "", brief: "", dotWords: "\(audience.words): nothing")
            }
        }
        var dots = Contract.DeliveryState.allCases.compactMap { state -> DeliveryDot? in
            guard let count = broadcast.counts[state.rawValue] else { return nil }
            return DeliveryDot(
                dotState: state.rawValue, brief: Wording.number(count),
                dotWords: "\(Wording.number(count)) \(state.rawValue)")
        }
        if let slowest = broadcast.deliveries.compactMap(\.answerMilliseconds).max() {
            let brief = "≤ \(Wording.number(slowest)) ms"
            dots.append(DeliveryDot(dotState: "", brief: brief, dotWords: "within \(Wording.number(slowest)) ms"))
        }
        return dots
    }

    private init(dotState: String, brief: String, dotWords: String) {
        self.dotState = dotState
        self.brief = brief
        self.dotWords = dotWords
    }

    private init(_ delivery: Contract.Delivery) {
        let answeredIn = delivery.answerMilliseconds.map { "\(Wording.number($0)) ms" }
        let whose = Wording.list(delivery.bundleId, delivery.environment.rawValue, delivery.variant)
        dotState = delivery.state.rawValue
        brief = answeredIn ?? delivery.state.rawValue
        dotWords = "\(whose): \(delivery.state.rawValue)" + (answeredIn.map { " after \($0)" } ?? "")
    }
}

extension Contract.Delivery {
    fileprivate func isOf(_ audience: Contract.EventAudience) -> Bool {
        bundleId == audience.bundleId && environment == audience.environment && variant == audience.variant
    }
}

/// The delivery of a message to one audience.
struct DeliveryLine: Sendable {
    let audience: String
    let deliveryState: String
    /// Apple's answer, or why there is none.
    let answer: String
    /// `41 ms`
    let answeredIn: String?
    /// A link, within the timeline, to the message that replaced this message.
    let successorHref: String?
    let deliveryAdvice: String?
    /// The number of activities with each result, if the delivery is by token; `nil` if it is by channel.
    let crowd: String?
    let apnsRequestID: String
    let apnsUniqueID: String?

    init(_ delivery: Contract.Delivery) {
        audience = Wording.list(delivery.bundleId, delivery.environment.rawValue, delivery.variant)
        deliveryState = delivery.state.rawValue
        answer = Self.answer(delivery)
        answeredIn = delivery.answerMilliseconds.map { "\(Wording.number($0)) ms" }
        successorHref = delivery.supersededBy.map { "#b-" + $0 }
        deliveryAdvice = Advice.delivery(delivery.state, reason: delivery.reason)
        crowd = delivery.counts.map { counts in
            [
                "\(Wording.count(counts.total, "activity", "activities")) by token",
                "\(Wording.number(counts.accepted)) accepted",
                counts.rejected > 0 ? "\(Wording.number(counts.rejected)) rejected" : nil,
                counts.gone > 0 ? "\(Wording.number(counts.gone)) gone" : nil,
                counts.expired > 0 ? "\(Wording.number(counts.expired)) not reached in time" : nil,
                counts.pending > 0 ? "\(Wording.number(counts.pending)) not sent yet" : nil,
            ].compactMap(\.self).joined(separator: ", ")
        }
        apnsRequestID = delivery.apnsRequestId ?? ""
        apnsUniqueID = delivery.apnsUniqueId
    }

    private static func answer(_ delivery: Contract.Delivery) -> String {
        let reason = delivery.reason.map { ": \($0)" } ?? ""
        let again = delivery.nextAttemptAt.map { ", again at \(Moment($0, exact: true).text)" } ?? ""
        return switch delivery.state {
        case .accepted: "Apple took it (200)"
        case .rejected: delivery.attempts > 0 ? "Apple refused it\(reason)" : "not sent\(reason)"
        case .expired: "its time ran out\(reason)"
        case .superseded: "a newer message took its place"
        case .cancelled: "withdrawn"
        case .sending: "a request is under way"
        case .queued: delivery.attempts > 0 ? "not taken yet\(reason)\(again)" : "waits for its turn\(again)"
        case .waiting: "waits for its channel"
        case .unknown(let word): word
        }
    }
}
