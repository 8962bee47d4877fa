internal import Grandstand
internal import GrandstandService
internal import Hummingbird

/// The events that an app may offer to follow.
extension LookupRoutes {
    static let listPath = "/v1/lookup/:bundleId/:environment"

    var list: Route {
        Route(
            .get, Self.listPath, Self.access,
            query: ["topic", "from", "to", "state", "variant", "limit", "cursor"]
        ) { request, context in
            try await meter.count(.listed) { try await answerList(request, context) }
        }
    }

    private func answerList(_ request: Request, _ context: APIContext) async throws -> Response {
        let bundleID = try context.bundleID()
        let environment = try context.environment()
        let query = try context.query.list()
        let (body, freshness) = try await replica.list(
            query, topic: bundleID.topic, in: environment, uri: request.uri.string)
        return .lookup(body, freshness, ifNoneMatch: request.headers[.ifNoneMatch])
    }
}

extension QueryParameters {
    fileprivate func list() throws(Problem) -> LookupListQuery {
        let page = try page()
        let after = try page.cursor.map { text throws(Problem) in
            guard let place = LookupIndex.Place(text: text) else {
                throw PageRequest.refusal
            }
            return place
        }
        return LookupListQuery(
            topic: try read("topic", Topic.rule, Topic.init(rawValue:)), from: try date("from"), to: try date("to"),
            state: try choice("state"), variant: try variant(), limit: page.limit, after: after)
    }
}
