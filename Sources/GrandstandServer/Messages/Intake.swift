internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// One broadcast, or one reported state of an event: as a caller asks the outbox to accept it, and then as a row of
/// `broadcasts`.
struct Intake: Sendable {
    let target: BroadcastTarget
    /// What is sent. Of a state: what its decision sends. Once it is accepted: as it is stored, with the defaults of its
    /// event if it is sent now.
    var request: BroadcastRequest
    /// The state that a feed reported; `nil`: the broadcast was composed.
    var report: Contract.StateDraft?
    /// The actor of the request.
    let actor: AuditActor
    /// The reach of the caller.
    let reach: AppReach
    /// When it came or, once it is accepted, when it was accepted.
    var at: Date

    // What an acceptance decides:

    var id = UUID.drawn()
    var isScheduled = false
    var warnings: [String] = []
    /// The apps that the broadcast is for.
    var apps: [BundleID] = []
    /// The decision about `report`.
    var decision: StateDecision?

    init(
        _ target: BroadcastTarget, _ request: BroadcastRequest, by actor: AuditActor, within reach: AppReach = .all,
        at time: Date
    ) {
        self.target = target
        self.request = request
        self.actor = actor
        self.reach = reach
        at = time
    }

    init(_ target: BroadcastTarget, _ request: BroadcastRequest, _ caller: APIKey, at time: Date) {
        self.init(target, request, by: caller.actor, within: caller.reach, at: time)
    }

    /// Reads the body of `POST /v1/events/{key}/broadcasts`.
    init(_ target: BroadcastTarget, _ body: JSONValue, _ caller: APIKey, at time: Date) throws(Problem) {
        self = try Contract.BroadcastDraft.read(body) { draft, faults throws(Problem) in
            Intake(target, try BroadcastRequest(draft, &faults), caller, at: time)
        }
    }

    init(_ key: EventKey, _ report: Contract.StateDraft, _ caller: APIKey, at time: Date) {
        let payload = BroadcastPayload(event: .update, contentState: Array(report.contentState.bytes))
        self.init(.event(key), BroadcastRequest(payload: payload), caller, at: time)
        self.report = report
    }

    /// What the decision about this state sends; `nil`: nothing.
    func deciding(_ decision: StateDecision) -> Intake? {
        guard let request = decision.request else { return nil }
        var intake = self
        (intake.request, intake.decision) = (request, decision)
        return intake
    }

    /// Whether it depends on contents that were accepted before: it is a state, or an update that takes the newest content
    /// when it is sent.
    var comparesContents: Bool {
        report != nil || request.payload.event == .update && request.payload.contentState == nil
    }
}

extension BroadcastRequest {
    /// The bytes of `contentState` and `alert` stay as the caller wrote them.
    init(_ draft: Contract.BroadcastDraft, _ faults: inout RequestFaults) throws(Problem) {
        let isEnd = draft.event == .end
        if !isEnd, draft.contentState == nil, draft.sendAt == nil {
            faults.add("/contentState", "contentState is required. Only a message with sendAt may leave it out.")
        }
        if !isEnd, draft.dismissalDate != nil {
            faults.add("/dismissalDate", "dismissalDate is allowed only for an end.")
        }
        if let alert = draft.alert { faults.requireText(of: alert, at: "/alert", Self.advice) }
        self.init(
            payload: BroadcastPayload(
                event: isEnd ? .end : .update, contentState: draft.contentState?.array,
                alert: draft.alert?.array, staleDate: draft.staleDate?.epoch,
                dismissalDate: draft.dismissalDate?.epoch, relevanceScore: draft.relevanceScore?.array),
            priority: try APNsPriority(draft.priority), expiresIn: draft.expiresIn,
            apnsExpiration: draft.apnsExpiration)
        audiences = draft.audiences
        byVariant = draft.byVariant ?? [:]
        for (name, content) in byVariant.sorted(by: { $0.key < $1.key }) {
            if let alert = content.alert { faults.requireText(of: alert, at: "/byVariant/\(name)/alert", Self.advice) }
        }
        switch draft.sendAt {
        case .at(let date): sendAt = date
        case .afterStart(let time): sendAfterStart = time.afterStart
        case nil: break
        }
    }

    private static let advice = "Leave alert out for an update that does not alert."
}

extension Date {
    /// The time in Apple's payload: whole seconds since 1970.
    var epoch: Int { Int(timeIntervalSince1970.rounded(.down)) }
}
