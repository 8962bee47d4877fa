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
                let report = try StateReport(body: try await request.json())
                guard let broadcast = try await tell(report, of: key, context.caller) else {
                    return .json(Contract.UnchangedState(outcome: .unchanged))
                }
                return .json(broadcast, status: .accepted)
            },
            Route(.previewState) { request, context in
                let key = try context.eventKey()
                let report = try StateReport(body: try await request.json())
                return .json(try await preview(report, of: key, context.caller).state)
            },
        ]
    }
}
