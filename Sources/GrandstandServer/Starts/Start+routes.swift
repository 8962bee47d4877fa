internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird

/// `/v1/events/{key}/starts`: the progress of an event's start; and the topics that people follow.
extension API {
    var startRoutes: [Route] {
        let starts = stores.starts
        return [
            Route(.startEvent) { request, context in
                let key = try context.eventKey()
                let order = try Contract.StartOrder.read(try await request.json(orIfEmpty: "{}"))
                let caller = try context.caller
                if order.dryRun ?? false {
                    return .json(try await starts.report(of: key, within: caller.reach, .dryRun, now: now()))
                }
                return .json(
                    try await starts.start(key, within: caller.reach, by: caller.actor, now: now()), status: .accepted)
            },
            Route(.stopStart) { _, context in
                let caller = try context.caller
                try await starts.stop(try context.eventKey(), within: caller.reach, by: caller.actor, now: now())
                return .noContent
            },
            Route(.getStart) { _, context in
                .json(
                    try await starts.report(
                        of: try context.eventKey(), within: try context.caller.reach, now: now()))
            },
            Route(.listTopics) { _, context in
                let target = try context.app()
                let page = try context.query.page()
                _ = try await stores.apps.registered(target.bundleID)
                return .json(try await starts.topics(of: target, page))
            },
        ]
    }
}
