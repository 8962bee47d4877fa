package import FoundationEssentials
package import GrandstandContract

/// One broadcast, or one reported state of an event: as a caller asks the outbox to accept it, and then as a row of
/// `broadcasts`.
package struct Intake: Sendable {
    package let target: BroadcastTarget
    /// What is sent. Of a state: what its decision sends. Once it is accepted: as it is stored, with the defaults of its
    /// event if it is sent now.
    package var request: Contract.BroadcastDraft
    /// The state that a feed reported; `nil`: the broadcast was composed.
    var report: Contract.StateDraft?
    /// The actor of the request.
    package let actor: AuditActor
    /// The reach of the caller.
    package var reach = AppReach.all
    /// When it came or, once it is accepted, when it was accepted.
    package var at: Date

    // What an acceptance decides:

    package let id: UUID
    /// When it is to be sent; `nil`: at once.
    package var sendAt: Date?
    package var isScheduled = false
    package var warnings: [String] = []
    /// Its messages.
    package var plan: DeliveryPlan?
    /// The decision about `report`.
    package var decision: StateDecision?

    package init(
        target: BroadcastTarget, request: Contract.BroadcastDraft, actor: AuditActor, reach: AppReach = .all, at: Date,
        id: UUID = .drawn(), sendAt: Date? = nil
    ) {
        (self.target, self.request, self.actor, self.reach) = (target, request, actor, reach)
        (self.at, self.id, self.sendAt) = (at, id, sendAt)
    }

    /// Whether it depends on contents that were accepted before: it is a state, or an update that takes the newest content
    /// when it is sent.
    package var needsContents: Bool { report != nil || request.event != .end && request.contentState == nil }
}

extension Intake {
    package init(_ target: BroadcastTarget, _ request: Contract.BroadcastDraft, _ caller: APIKey, at time: Date) {
        self.init(target: target, request: request, actor: caller.actor, reach: caller.reach, at: time)
    }

    package init(_ key: EventKey, _ report: Contract.StateDraft, _ caller: APIKey, at time: Date) {
        let request = Contract.BroadcastDraft(event: .update, contentState: report.contentState)
        self.init(.event(key), request, caller, at: time)
        self.report = report
    }
}
