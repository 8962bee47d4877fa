internal import ContentPreviews
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandService
internal import Hummingbird
internal import JSON

/// `/v1/events/{key}/state`: the present state of an event, as a data feed sends it.
struct StateRoutes: Sendable {
    let states: StateOperations

    var routes: [Route] {
        [
            Route(.putState) { request, context in
                let key = try context.eventKey()
                let report = try StateReport(body: try await request.json())
                guard let broadcast = try await states.tell(report, of: key, context.caller) else {
                    return .json(UnchangedStateView())
                }
                return .json(broadcast, status: .accepted)
            },
            Route(.previewState) { request, context in
                let key = try context.eventKey()
                let report = try StateReport(body: try await request.json())
                return .json(try await states.preview(report, of: key, context.caller))
            },
        ]
    }
}

/// The operations on the states of events.
struct StateOperations: Sendable {
    let broadcasts: BroadcastOperations

    /// - Returns: the broadcast with the new state; `nil`: nothing has changed.
    /// - Throws: the errors of `Intake.tell`.
    func tell(_ report: StateReport, of key: EventKey, _ caller: Caller) async throws -> Broadcast? {
        try await broadcasts.intake.tell(StateIntake(key, report, by: caller.actor, within: caller.reach))
    }

    /// Returns what `tell` would do, and changes nothing.
    ///
    /// - Throws: the errors of `tell`.
    func preview(_ report: StateReport, of key: EventKey, _ caller: Caller) async throws -> StatePreviewView {
        let rehearsal = try await broadcasts.intake.rehearse(
            StateIntake(key, report, by: caller.actor, within: caller.reach))
        return StatePreviewView(
            rehearsal: rehearsal,
            broadcast: try await rehearsal.broadcast.asyncMap { try await broadcasts.view(of: $0) })
    }
}

extension Optional {
    /// Like `map`, with an asynchronous function.
    fileprivate func asyncMap<Value>(_ body: (Wrapped) async throws -> Value) async throws -> Value? {
        guard let self else { return nil }
        return try await body(self)
    }
}

extension StateReport {
    /// Reads the body of `PUT /v1/events/{key}/state`. The bytes of contents stay as the caller wrote them.
    init(body: JSONValue) throws(Problem) {
        let draft = try Contract.StateDraft.read(body)
        var byVariant: [Variant: JSONValue] = [:]
        for (name, content) in draft.byVariant ?? [:] {
            byVariant[try Variant(allowed: name)] = try content.contentState?.tree()
        }
        self.init(
            contentState: try draft.contentState.tree(), byVariant: byVariant, sequence: draft.sequence,
            isFinal: draft.`final` ?? false, audiences: try [AudienceSelector](draft.audiences))
    }
}

/// The answer to a state without changes.
struct UnchangedStateView: JSONObjectWritable {
    func write(members object: inout JSONWriter) { object.member("outcome", StateOutcome.unchanged.rawValue) }
}

/// The answer to `POST /v1/events/{key}/state/preview`.
struct StatePreviewView: JSONObjectWritable {
    let rehearsal: StateRehearsal
    /// `nil`: nothing would be sent.
    let broadcast: BroadcastRehearsalView?

    func write(members object: inout JSONWriter) {
        object.member("outcome", rehearsal.outcome.rawValue)
        object.member("rule", rehearsal.rule)
        object.member("goesAt", rehearsal.goesAt)
        object.name("audiences")
        if let broadcast { broadcast.writeParts(to: &object) } else { object.raw("[]".utf8) }
        object.member("warnings", rehearsal.broadcast?.warnings ?? [])
    }
}
