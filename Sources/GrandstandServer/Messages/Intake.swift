internal import APNsWire
internal import Grandstand

/// One broadcast or one reported state of an event, as a caller asks the outbox to accept it.
struct Intake: Sendable {
    enum Content: Sendable {
        case broadcast(BroadcastRequest)
        case state(StateReport)
    }

    let target: BroadcastTarget
    let content: Content
    /// The actor of the request.
    let actor: AuditActor
    /// The reach of the caller.
    let reach: AppReach

    init(_ target: BroadcastTarget, _ content: Content, by actor: AuditActor, within reach: AppReach = .all) {
        self.target = target
        self.content = content
        self.actor = actor
        self.reach = reach
    }

    init(_ target: BroadcastTarget, _ content: Content, _ caller: Caller) {
        self.init(target, content, by: caller.actor, within: caller.reach)
    }

    /// Whether it depends on contents that were accepted before: it is a state, or an update that takes the newest content
    /// when it is sent.
    var comparesContents: Bool {
        switch content {
        case .broadcast(let request): request.payload.event == .update && request.payload.contentState == nil
        case .state: true
        }
    }
}
