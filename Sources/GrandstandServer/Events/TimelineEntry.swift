internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// One message of an event in the timeline: one line, and the details that open below it.
struct TimelineEntry: Sendable {
    let broadcast: Contract.Broadcast
    let acceptedAt: Moment
    /// `scheduled` or `cancelled`; `nil` for every other state.
    let unusual: String?
    /// What it did, in words: `Goal alert`, `quiet`, `update`, `end`.
    let did: String
    /// `rings`, `quiet`, `update`, `end`
    let didKind: String
    /// Who sent the message: the name of the key, or another actor.
    let by: String
    let goesAt: Moment?
    let content: ContentLine?
    /// The whole message as a body that sends it once more.
    let body: String
    /// The deliveries that the line shows one by one; empty if there are more than four.
    let dots: [DeliveryLine]
    /// `12 accepted, 3 queued`, for more deliveries.
    let tally: String
    let lines: [DeliveryLine]
    /// Advice about the first delivery that went wrong.
    let firstAdvice: String?
    /// The address of the form that withdraws the message; `nil`: the message cannot be withdrawn.
    let withdrawAction: String?
    let resendHref: String

    /// - Parameters:
    ///   - labels: what distinguishes the event's audiences, by their names.
    ///   - before: the message with the content before it.
    ///   - previews: the templates by app. The entry uses the template of the message's first app that has a template.
    ///     If none of the message's apps has a template, it uses any template.
    init(
        _ broadcast: Contract.Broadcast, of key: EventKey, _ labels: [String: String],
        _ previews: [String: ContentPreview], since before: Contract.Broadcast? = nil
    ) {
        self.broadcast = broadcast
        acceptedAt = Moment(broadcast.acceptedAt, exact: true)
        unusual = [.scheduled, .cancelled].contains(broadcast.state) ? broadcast.state.rawValue : nil
        let own = (broadcast.message?.byVariant ?? [:]).sorted { $0.key < $1.key }.map(\.value.alert)
        let alert = ([broadcast.message?.alert] + own).compactMap(\.self).first.map { alert in
            Self.title(Array(alert.bytes)).map { "\($0) alert" } ?? "alert"
        }
        let isEnd = broadcast.event == .end
        let words = [isEnd ? "end" : nil, alert, broadcast.outcome == .quiet ? "quiet" : nil].compactMap(\.self)
        did = words.isEmpty ? "update" : words.joined(separator: ", ")
        didKind = isEnd ? "end" : alert != nil ? "rings" : did
        let actor = broadcast.by ?? ""
        by = actor.hasPrefix("key:") ? String(actor.dropFirst(4)) : actor
        goesAt = broadcast.sendAt.map { Moment($0) }
        let preview = broadcast.deliveries.lazy.compactMap { previews[$0.bundleId] }.first ?? previews.values.first
        content = broadcast.message?.contentState.map {
            ContentLine(Array($0.bytes), preview, since: before?.message?.contentState.map { Array($0.bytes) })
        }
        body = broadcast.message.map { ReadableJSON.text(JSONWriter.text($0)) } ?? ""
        lines = broadcast.deliveries.map { DeliveryLine($0, labels) }
        dots = lines.count > 4 ? [] : lines
        tally = lines.count > 4 ? Wording.tally(lines.map(\.delivery.state.rawValue)) : ""
        firstAdvice = lines.lazy.compactMap(\.deliveryAdvice).first
        withdrawAction =
            broadcast.isWithdrawable ? ConsolePath.event(key, "broadcasts/\(broadcast.id)/withdraw") : nil
        resendHref = ConsolePath.composer(key, from: broadcast.id)
    }

    /// The alert's title or body, as text or as its `loc-key`.
    private static func title(_ alert: [UInt8]) -> String? {
        let json = try? JSONValue(parsing: alert)
        return ["title", "body"].lazy.compactMap { json?[$0]?.string ?? json?[$0]?["loc-key"]?.string }
            .first { !$0.isEmpty }
    }
}

extension Contract.StateOutcome {
    /// What a state comes to, for people.
    var words: String {
        switch self {
        case .unchanged: "Nothing has changed, so nothing is sent"
        case .quiet: "It is sent quietly"
        case .update: "It is sent at once, without an alert"
        case .rings: "It is sent at once and rings"
        case .end: "It ends the event"
        case .unknown(let word): word
        }
    }
}

/// The delivery of a message to one audience.
struct DeliveryLine: Sendable {
    let delivery: Contract.Delivery
    let audience: String
    /// `de`; empty if there is no other audience.
    let label: String
    /// Apple's answer, or why there is none.
    let answer: String
    let again: Moment?
    /// `41 ms`
    let answeredIn: String?
    /// How long Apple's answer took or, without one, the state.
    let brief: String
    let deliveryAdvice: String?
    /// The number of activities with each result, if the delivery is by token; `nil` if it is by channel.
    let crowd: String?

    init(_ delivery: Contract.Delivery, _ labels: [String: String]) {
        self.delivery = delivery
        audience = Wording.list(delivery.bundleId, delivery.environment.rawValue, delivery.variant)
        label = labels[audience] ?? ""
        answer = Self.answer(delivery)
        again = delivery.state == .queued ? delivery.nextAttemptAt.map { Moment($0, exact: true) } : nil
        answeredIn = delivery.answerMilliseconds.map { "\(Wording.number($0)) ms" }
        brief = answeredIn ?? delivery.state.rawValue
        deliveryAdvice = Advice.delivery(delivery.state, reason: delivery.reason)
        crowd = delivery.counts.map { counts in
            let results = [
                (counts.accepted, "accepted"), (counts.rejected, "rejected"), (counts.gone, "gone"),
                (counts.expired, "not reached in time"), (counts.pending, "not sent yet"),
            ].filter { $0.0 > 0 || $0.1 == "accepted" }
            let words = results.map { "\(Wording.number($0.0)) \($0.1)" }.joined(separator: ", ")
            return "\(Wording.number(counts.total)) by token, \(words)"
        }
    }

    private static func answer(_ delivery: Contract.Delivery) -> String {
        let reason = delivery.reason.map { ": \($0)" } ?? ""
        return switch delivery.state {
        case .accepted: "Apple took it (200)"
        case .rejected: delivery.attempts > 0 ? "Apple refused it\(reason)" : "not sent\(reason)"
        case .expired: "its time ran out\(reason)"
        case .superseded: "a newer message took its place"
        case .cancelled: "withdrawn"
        case .sending: "a request is under way"
        case .queued: delivery.attempts > 0 ? "not taken yet\(reason)" : "waits for its turn"
        case .waiting: "waits for its channel"
        case .unknown(let word): word
        }
    }
}

/// A content in one line: as the app's template shows it, else its members.
struct ContentLine: Sendable {
    typealias Member = (memberName: String, memberValue: String, isChanged: Bool)

    let lineText: String?
    /// Empty if there is a template. The changed members come first, so that the end of a long line can be cut off.
    let members: [Member]

    /// - Parameter before: the content before it; `nil`: no member counts as changed.
    init(_ content: [UInt8], _ preview: ContentPreview?, since before: [UInt8]? = nil) {
        lineText = preview?.rendered(content).flatMap { $0.compact ?? $0.expanded }
        let all = lineText == nil ? (try? JSONValue(parsing: content))?.members ?? [] : []
        let old = before.flatMap { try? JSONValue(parsing: $0) }
        let members = all.prefix(20).map { name, value -> Member in
            let text = value.string ?? ReadableJSON.escaped(String(decoding: value.compact, as: UTF8.self))
            return (name, String(text.prefix(60)), old != nil && old?[name]?.compact != value.compact)
        }
        self.members = members.filter(\.isChanged) + members.filter { !$0.isChanged }
    }
}

/// Advice for people about reasons of Apple, as docs/runbook.md has it.
enum Advice {
    private static let rows = EmbeddedFiles.rows(of: "runbook.md").filter { $0.count == 2 }

    /// What the runbook says about a reason; `nil`: nothing.
    static func about(_ reason: String?) -> String? {
        guard let reason = reason.map({ APNsReason(rawValue: $0).rawValue }) else { return nil }
        return rows.first { $0[0].contains("`\(reason)`") }.map { row in
            let text = row[1].replacing(/\[([^\]]+)\]\([^)]+\)/) { $0.output.1 }.replacing("`", with: "")
            return text.prefix(1).uppercased() + text.dropFirst()
        }
    }

    /// Advice about a rejected or expired delivery; `nil` for other states.
    static func delivery(_ state: Contract.DeliveryState, reason: String?) -> String? {
        guard state == .rejected || state == .expired else { return nil }
        return about(reason) ?? "Phones may not have this content: send the newest state. See docs/runbook.md."
    }

    /// Shows the reason of a channel's state, and advice.
    static func pieces(_ reason: String?, isActive: Bool) -> [Piece] {
        [.quoted(reason ?? ""), .words(isActive ? "" : about(reason) ?? "")]
    }

    static let capability =
        "Turn the Broadcast Capability of the App ID on in Apple's developer account (Identifiers, Push Notifications)."
}
