internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import Logging

/// One request for a page, and what pages may do with the API for it: authenticate a secret, count the request, and call
/// an operation.
struct PageAccess: RequestContextSource {
    let routes: [Route]
    let authenticator: RequestAuthenticator
    let idempotency: Idempotency
    let context: APIContext

    var logger: Logger { context.log }

    /// The key with this secret.
    ///
    /// - Throws: `unauthenticated`, which counts as a failure of the caller's address; `rate-limited`.
    func identify(_ secret: String) async throws -> APIKey {
        let key = try await authenticator.identify(secret, context, for: [])
        authenticator.uses.used(key.id, at: authenticator.now())
        return key
    }

    /// Counts a request in a session of `key`.
    ///
    /// - Throws: `rate-limited`.
    func countRequest(of key: APIKey) throws(Problem) {
        authenticator.uses.used(try authenticator.resume(key, context, for: []).id, at: authenticator.now())
    }

    /// Counts a wrong secret against the caller's address. Returns a problem with `detail`, or `rate-limited` after too
    /// many failures.
    func refusal(_ detail: String) -> Problem { authenticator.refusal(detail, context, authenticator.now()) }

    /// Calls an operation with a key, as its route does: the same checks, the same handler, and the same stored answers.
    /// Only the key's limit does not count the call, because the page is counted.
    ///
    /// - Throws: the problem that the API would answer with.
    func perform(_ call: PageCall, as key: APIKey) async throws -> Response {
        guard var route = routes.first(where: { $0.operation.id == call.operation.id }) else {
            throw Problem(.notFound, "This server has no operation \(call.operation.id).")
        }
        // A form that is sent twice has its effect once, whatever the operation's method is.
        route.keepsAnswers = call.idempotencyKey != nil
        var context = context
        context.key = key
        context.coreContext.parameters = call.parameters
        try RequestAuthenticator.check(key, for: route.scopes)
        try RequestAuthenticator.checkApp(key, context, to: route)
        context.query = try QueryParameters(call.queryText, known: route.operation.query)
        return try await idempotency.answer(call.request(route.method), context, route)
    }
}
