internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Around every request: its name, its problem if it ends in one, and the headers every answer has.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = APIContext

    struct Settings: Sendable {
        var headers: StandingHeaders
        var logger: Logger
        /// Counts every answer; the path is the route's, `nil` when there is none.
        var onAnswer: @Sendable (_ method: String, _ path: String?, _ status: Int, _ time: Duration) -> Void
    }

    let table: RouteTable
    let settings: Settings

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let started = ContinuousClock.now
        var context = context
        if let named = request.headers[.xRequestID].flatMap(RequestID.init) { context.requestID = named.rawValue }
        context.logger = settings.logger
        context.logger[metadataKey: "request-id"] = "\(context.requestID)"
        var response = await answer(request, context, next)
        response.headers[.xRequestID] = context.requestID
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        settings.headers.complete(&response.headers)
        if let standing = context.rate.standing { response.headers.tell(standing) }
        let took = ContinuousClock.now - started
        settings.onAnswer(request.method.rawValue, context.endpointPath, response.status.code, took)
        context.logger.debug(
            "answered",
            metadata: [
                "method": "\(request.method.rawValue)", "path": "\(request.uri.path)",
                "status": "\(response.status.code)", "seconds": "\(took)",
            ])
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(
        _ request: Request, _ context: APIContext, _ next: (Request, APIContext) async throws -> Response
    ) async -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return problem.response(requestID: context.requestID)
        } catch let error as HTTPError {
            var response = translate(error, request).response(requestID: context.requestID)
            if error.status == .notFound, let allowed = table.methods(at: request.uri.path) {
                response.headers[.allow] = allowed.map(\.rawValue).joined(separator: ", ")
            }
            return response
        } catch {
            context.logger.error(
                "a request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            return Problem(
                .internalError, "The request failed; the log names it \(context.requestID)."
            ).response(requestID: context.requestID)
        }
    }

    private func translate(_ error: HTTPError, _ request: Request) -> Problem {
        switch error.status {
        case .notFound:
            guard let allowed = table.methods(at: request.uri.path) else {
                return Problem(.notFound, "There is nothing at \(request.uri.path).")
            }
            let names = allowed.map(\.rawValue).joined(separator: ", ")
            return Problem(.methodNotAllowed, "\(request.uri.path) takes \(names), not \(request.method.rawValue).")
        case .contentTooLarge:
            return Problem(.bodyTooLarge, "The body may have \(Route.standardBodyLimit) bytes at most.")
        default:
            return Problem(.invalidRequest, error.body ?? "The request cannot be understood.")
        }
    }
}

extension HTTPFields {
    /// `RateLimit-Limit`, `-Remaining` and `-Reset`, as most clients read them.
    fileprivate mutating func tell(_ standing: RateLimit.Standing) {
        self[.rateLimitLimit] = String(standing.limit)
        self[.rateLimitRemaining] = String(standing.remaining)
        self[.rateLimitReset] = String(standing.reset)
    }
}

// The literals are tokens of RFC 9110, so they have names.
extension HTTPField.Name {
    /// Names the request in answers, problems and logs.
    static let xRequestID = HTTPField.Name("X-Request-Id")!
    fileprivate static let rateLimitLimit = HTTPField.Name("RateLimit-Limit")!
    fileprivate static let rateLimitRemaining = HTTPField.Name("RateLimit-Remaining")!
    fileprivate static let rateLimitReset = HTTPField.Name("RateLimit-Reset")!
}
