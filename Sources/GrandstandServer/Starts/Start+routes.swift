internal import Grandstand
internal import GrandstandContract
internal import Hummingbird

/// `/v1/events/{key}/starts`: the progress of an event's start; and the topics that people follow.
struct StartRoutes: Sendable {
    let apps: any AppStore
    let starts: StartOperations

    var routes: [Route] {
        [
            Route(.startEvent) { request, context in
                let key = try context.eventKey()
                let order = try Contract.StartOrder.read(try await request.json(orIfEmpty: "{}"))
                let isDry = order.dryRun ?? false
                let report = try await starts.startNow(key, isDry: isDry, context.caller)
                return .json(report, status: isDry ? .ok : .accepted)
            },
            Route(.stopStart) { _, context in
                try await starts.stop(try context.eventKey(), context.caller)
                return .noContent
            },
            Route(.getStart) { _, context in
                .json(try await starts.report(of: try context.eventKey(), .asItIs, context.caller))
            },
            Route(.listTopics) { _, context in
                let target = try context.app()
                let page = try context.query.page()
                _ = try await apps.registered(target.bundleID)
                let topics = try await starts.starts.topics(of: target, page)
                return .json(Contract.Page(topics, Contract.FollowedTopic.init))
            },
        ]
    }
}
