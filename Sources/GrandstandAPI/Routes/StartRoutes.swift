internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/events/{key}/starts`: what has become of an event's start; and what people follow.
struct StartRoutes: Sendable {
    let apps: any AppStore
    let events: any EventStore
    let starts: any StartStore
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.startEvent, startNow),
            Route(.stopStart, stop),
            Route(.getStart, report),
            Route(.listTopics, topics),
        ]
    }

    private func startNow(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try context.eventKey()
        var fields = JSONFields(try await request.json(orIfEmpty: "{}"))
        let isDry = fields.flag("dryRun") ?? false
        try fields.finish()
        // Followers are counted before the event is locked, and apart from the transaction of an Idempotency-Key.
        let reports = try await reports(of: key, isDry ? .dryRun : .asked, context)
        if isDry { return .json(reports) }
        let by = try await starts.startNow(key, within: context.reach, by: context.actor, now: now())
        return .json(reports.asked(by: by), status: .accepted)
    }

    private func stop(_ request: Request, _ context: APIContext) async throws -> Response {
        try await starts.stop(try context.eventKey(), within: context.reach, by: context.actor, now: now())
        return .noContent
    }

    private func report(_ request: Request, _ context: APIContext) async throws -> Response {
        .json(try await reports(of: try context.eventKey(), .asItIs, context))
    }

    private func reports(
        of key: EventKey, _ outlook: StartOutlook, _ context: APIContext
    ) async throws -> StartReportsView {
        let now = now()
        if let reports = try await starts.report(of: key, within: context.reach, outlook, now: now) {
            return StartReportsView(reports: reports, now: now)
        }
        _ = try await events.declared(key, within: context.reach, now: now)
        throw Problem(.invalidRequest, "The event \(key) declares no start. Declare it with PUT /v1/events/\(key).")
    }

    private func topics(_ request: Request, _ context: APIContext) async throws -> Response {
        let target = try context.app()
        let page = try context.query.page()
        _ = try await apps.registered(target.bundleID)
        return .json(try await starts.topics(of: target, page))
    }
}
