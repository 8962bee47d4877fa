internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

extension BroadcastRequest {
    /// Reads the body of `POST /v1/events/{key}/broadcasts`. The bytes of `contentState` and `alert` stay as the caller
    /// wrote them.
    init(body: JSONValue) throws(Problem) {
        self = try Contract.BroadcastDraft.read(body) { draft, faults throws(Problem) in
            try BroadcastRequest(draft, &faults)
        }
    }

    init(_ draft: Contract.BroadcastDraft, _ faults: inout RequestFaults) throws(Problem) {
        self.init(draft, as: draft.event == .end ? .end : .update, priority: try APNsPriority(draft.priority), &faults)
        audiences = try [AudienceSelector](draft.audiences)
        for (name, content) in (draft.byVariant ?? [:]).sorted(by: { $0.key < $1.key }) {
            if let alert = content.alert { faults.requireText(of: alert, at: "/byVariant/\(name)/alert", Self.advice) }
            byVariant[try Variant(allowed: name)] = BroadcastContent.Override(
                contentState: content.contentState.map { Array($0.bytes) }, alert: content.alert.map(JSONWriter.text))
        }
        switch draft.sendAt {
        case .at(let date): sendAt = date
        case .afterStart(let time): sendAfterStart = time.afterStart
        case nil: break
        }
    }

    /// Reads the fields that broadcasts and pushes share.
    init(
        _ draft: some MessageDraft, as event: BroadcastPayload.Event, priority: APNsPriority?,
        _ faults: inout RequestFaults
    ) {
        if event != .end, draft.contentState == nil { faults.add("/contentState", "contentState is required.") }
        if event != .end, draft.dismissalDate != nil {
            faults.add("/dismissalDate", "dismissalDate is allowed only for an end.")
        }
        if let alert = draft.alert {
            faults.requireText(of: alert, at: "/alert", event == .start ? Self.startAdvice : Self.advice)
        } else if event == .start {
            faults.add("/alert", "alert is required.")
        }
        self.init(
            payload: BroadcastPayload(
                event: event, contentState: draft.contentState.map { Array($0.bytes) },
                alert: draft.alert.map(JSONWriter.text), staleDate: draft.staleDate?.epoch,
                dismissalDate: draft.dismissalDate?.epoch,
                relevanceScore: draft.relevanceScoreText?.bytes),
            priority: priority, expiresIn: draft.expiresIn, apnsExpiration: draft.apnsExpiration)
    }

    private static let advice = "Leave alert out for an update that does not alert."
    private static let startAdvice = "APNs starts an activity only with an alert that has a text."
}

/// The fields that drafts of broadcasts and of pushes share.
protocol MessageDraft {
    var contentState: RawJSON? { get }
    var alert: Contract.Alert? { get }
    var expiresIn: Int? { get }
    var apnsExpiration: Int? { get }
    var staleDate: Date? { get }
    var dismissalDate: Date? { get }
    var relevanceScoreText: KeptNumber? { get }
}

extension Contract.BroadcastDraft: MessageDraft {}
extension Contract.PushDraft: MessageDraft {}

extension Date {
    /// The time in Apple's payload: whole seconds since 1970.
    var epoch: Int { Int(timeIntervalSince1970.rounded(.down)) }
}
