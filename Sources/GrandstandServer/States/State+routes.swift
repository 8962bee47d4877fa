internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
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
                    return .json(Contract.UnchangedState(outcome: .unchanged))
                }
                return .json(Contract.Broadcast(broadcast), status: .accepted)
            },
            Route(.previewState) { request, context in
                let key = try context.eventKey()
                let report = try StateReport(body: try await request.json())
                let (rehearsal, broadcast) = try await states.preview(report, of: key, context.caller)
                return .json(Contract.StatePreview(rehearsal, broadcast))
            },
        ]
    }
}

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
    func preview(
        _ report: StateReport, of key: EventKey, _ caller: Caller
    ) async throws -> (StateRehearsal, RenderedRehearsal?) {
        let rehearsal = try await broadcasts.intake.rehearse(
            StateIntake(key, report, by: caller.actor, within: caller.reach))
        guard let broadcast = rehearsal.broadcast else { return (rehearsal, nil) }
        return (rehearsal, try await broadcasts.rendered(broadcast))
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
            epoch: draft.sequenceEpoch, isFinal: draft.`final` ?? false,
            audiences: try [AudienceSelector](draft.audiences))
    }
}

extension Contract.StatePreview {
    init(_ rehearsal: StateRehearsal, _ broadcast: RenderedRehearsal?) {
        self.init(
            outcome: .init(rehearsal.outcome), rule: rehearsal.rule, goesAt: rehearsal.goesAt,
            audiences: broadcast.map { preview in
                preview.rehearsal.parts.map { Contract.AudiencePreview($0, of: preview) }
            } ?? [], warnings: rehearsal.broadcast?.warnings ?? [])
    }
}
