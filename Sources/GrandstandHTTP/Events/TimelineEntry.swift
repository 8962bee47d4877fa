internal import APNsWire
internal import ContentPreviews
internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// One message of an event, with what it said and what became of it.
struct TimelineEntry: Sendable {
    let id: String
    let acceptedAt: Moment
    /// `update` or `end`.
    let message: String
    let state: String
    /// The key that asked for it.
    let by: String
    let goesAt: Moment?
    /// By the app's template.
    let entryText: String?
    /// As it was written, with what it differs by variant.
    let contents: [TimelineContent]
    /// Title and body.
    let alertText: String?
    /// `nil`: all audiences.
    let onlyFor: String?
    let lines: [DeliveryLine]
    let warnings: [String]
    /// Where to take it back; `nil`: it cannot be.
    let withdrawAction: String?
    let resendHref: String

    /// - Parameter previews: of the apps that have templates; the first one's is shown.
    init(_ broadcast: Broadcast, of key: EventKey, _ previews: [BundleID: ContentPreview]) {
        let request = broadcast.request
        let payload = request?.payload
        id = broadcast.id.uuidString.lowercased()
        acceptedAt = Moment(broadcast.acceptedAt)
        message = broadcast.event.rawValue
        state = broadcast.state.rawValue
        by = broadcast.by ?? ""
        goesAt = broadcast.sendAt.map { Moment($0) }
        let apps = broadcast.deliveries.map(\.bundleID)
        let preview = apps.lazy.compactMap { previews[$0] }.first ?? previews.values.first
        entryText = preview?.shown(payload?.contentState).flatMap { $0.compact ?? $0.expanded }
        contents = request.map(TimelineContent.all) ?? []
        alertText = payload?.alert.flatMap(Self.text)
        onlyFor = request?.audiences.map { selectors in
            selectors.map {
                [$0.bundleID.rawValue, $0.environment.rawValue, $0.variant?.rawValue].compactMap(\.self)
                    .joined(separator: " ")
            }.joined(separator: ", ")
        }
        lines = broadcast.deliveries.map { DeliveryLine($0, of: broadcast) }
        warnings = broadcast.warnings
        withdrawAction = broadcast.isWithdrawable ? ConsolePath.withdrawal(of: broadcast.id, key) : nil
        resendHref = ConsolePath.composer(key, from: broadcast.id)
    }

    /// An alert's title and body, whatever of them is a string.
    private static func text(_ alert: [UInt8]) -> String? {
        guard let json = try? JSONValue(parsing: alert) else { return nil }
        let parts = ["title", "body"].compactMap { name in json[name]?.string ?? json[name]?["loc-key"]?.string }
        return parts.isEmpty ? ReadableJSON.text(alert, maximumBytes: 500) : parts.joined(separator: " — ")
    }
}

/// What a message said, to everybody or to a variant.
struct TimelineContent: Sendable {
    /// `Content`, `Content for de`.
    let heading: String
    let json: String

    static func all(_ request: BroadcastRequest) -> [TimelineContent] {
        var all: [TimelineContent] = []
        if let content = request.payload.contentState {
            all.append(TimelineContent(heading: "contentState", json: ReadableJSON.text(content)))
        }
        if let alert = request.payload.alert {
            all.append(TimelineContent(heading: "alert", json: ReadableJSON.text(alert)))
        }
        for (variant, override) in request.byVariant.sorted(by: { $0.key < $1.key }) {
            if let content = override.contentState {
                all.append(
                    TimelineContent(heading: "contentState for \(variant)", json: ReadableJSON.text(content)))
            }
            if let alert = override.alert {
                all.append(TimelineContent(heading: "alert for \(variant)", json: ReadableJSON.text(alert)))
            }
        }
        return all
    }
}

/// What became of a message for one audience.
struct DeliveryLine: Sendable {
    let audience: String
    let deliveryState: String
    /// What Apple said, or why it said nothing.
    let answer: String
    /// `41 ms`
    let answeredIn: String?
    /// The message that took its place, in the timeline.
    let successorHref: String?
    let deliveryAdvice: String?
    /// Of a crowd: token by token.
    let crowd: String?
    let apnsRequestID: String
    let apnsUniqueID: String?

    init(_ delivery: Delivery, of broadcast: Broadcast) {
        audience = Wording.list(delivery.bundleID.rawValue, delivery.environment.rawValue, delivery.variant?.rawValue)
        deliveryState = delivery.state.rawValue
        answer = Self.answer(delivery)
        answeredIn = broadcast.answerMilliseconds(of: delivery).map { "\(Wording.number($0)) ms" }
        successorHref = delivery.supersededBy.map { "#b-" + $0.uuidString.lowercased() }
        deliveryAdvice = Advice.delivery(delivery.state, reason: delivery.reason)
        crowd = delivery.counts.map { counts in
            [
                "\(Wording.count(counts.total, "activity", "activities")) by token",
                "\(Wording.number(counts.accepted)) accepted",
                counts.rejected > 0 ? "\(Wording.number(counts.rejected)) rejected" : nil,
                counts.gone > 0 ? "\(Wording.number(counts.gone)) gone" : nil,
                counts.expired > 0 ? "\(Wording.number(counts.expired)) not reached in time" : nil,
                counts.pending > 0 ? "\(Wording.number(counts.pending)) to go" : nil,
            ].compactMap(\.self).joined(separator: ", ")
        }
        apnsRequestID = delivery.apnsRequestID.uuidString.lowercased()
        apnsUniqueID = delivery.apnsUniqueID
    }

    private static func answer(_ delivery: Delivery) -> String {
        let reason = delivery.reason.map { ": \($0)" } ?? ""
        let again = delivery.nextAttemptAt.map { ", again at \(Moment($0).text)" } ?? ""
        return switch delivery.state {
        case .accepted: "Apple took it (200)"
        case .rejected: delivery.attempts > 0 ? "Apple refused it\(reason)" : "not sent\(reason)"
        case .expired: "its time ran out\(reason)"
        case .superseded: "a newer message took its place"
        case .cancelled: "withdrawn"
        case .unknown: "no answer was heard"
        case .sending: "a request is under way"
        case .queued: delivery.attempts > 0 ? "not taken yet\(reason)\(again)" : "waits for its turn\(again)"
        case .waiting: "waits for its channel"
        }
    }
}
