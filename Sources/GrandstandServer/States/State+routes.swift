internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/events/{key}/state`: the present state of an event, as a data feed sends it.
extension API {
    var stateRoutes: [Route] {
        [
            Route(.putState) { request, context in
                let key = try context.eventKey()
                let report = try Contract.StateDraft.read(try await request.json())
                let told = try await stores.outbox.tell(Intake(key, report, context.caller, at: now()))
                guard let broadcast = told else {
                    return .json(Contract.UnchangedState(outcome: .unchanged))
                }
                return .json(broadcast, status: .accepted)
            },
            Route(.previewState) { request, context in
                let key = try context.eventKey()
                let report = try Contract.StateDraft.read(try await request.json())
                guard let preview = try await preview(Intake(key, report, context.caller, at: now())).state else {
                    throw Problem.unansweredBroadcast
                }
                return .json(preview)
            },
        ]
    }
}
