internal import Grandstand
internal import GrandstandContract
internal import Hummingbird

/// The list of events that an app may offer to follow.
extension LookupRoutes {
    var list: Route {
        Route(.lookupList) { request, context in
            try await metrics.count(.listed) { try await answerList(request, context) }
        }
    }

    private func answerList(_ request: Request, _ context: APIContext) async throws -> Response {
        let bundleID = try context.bundleID()
        let environment = try context.environment()
        let query = try context.query.list()
        let (body, freshness) = try await replica.page(
            query, of: LookupList.App(topic: bundleID.topic, environment: environment), uri: request.uri.string)
        return LookupResponse(body, freshness, ifNoneMatch: request.headers[.ifNoneMatch]).response
    }
}

extension QueryParameters {
    fileprivate func list() throws(Problem) -> LookupListQuery {
        let page = try page()
        let after = try page.cursor.map { text throws(Problem) in try PageCursor(text) }
        let (from, to) = try period()
        return LookupListQuery(
            topic: try read("topic", Topic.rule, Topic.init(rawValue:)), from: from, to: to,
            state: try choice("state"), variant: try variant(), limit: page.limit, after: after)
    }
}
