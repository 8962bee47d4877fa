internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Wraps every request: sets its ID, converts errors to problems, and adds the headers of every answer.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = APIContext

    struct Settings: Sendable {
        var headers: StandingHeaders
        /// The memory for the bodies of all requests.
        var bodies = BodyRoom()
        /// The proxies whose forwarding headers are trusted.
        var proxies = TrustedProxies()
        var logger: Logger
        /// Called for every answer. `path` is the pattern of the route's path; `nil`: no route matches.
        var onAnswer: @Sendable (_ method: String, _ path: String?, _ status: Int, _ time: Duration) -> Void
    }

    let table: RouteTable
    let settings: Settings

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let started = ContinuousClock.now
        var context = context
        if let named = request.headers.value(of: .xRequestID).flatMap(RequestID.init) {
            context.requestID = named.rawValue
        }
        context.logger = settings.logger
        let body = BodyShare(settings.bodies)
        defer { body.leave() }
        context.body = body
        let request = request.forwarded(by: settings.proxies, &context)
        var response = await answer(request.receiving(in: body), context, next)
        if let fault = body.fault {
            response.headers[.connection] = "close"
            context.log.debug(
                "a body is broken", metadata: ["path": "\(request.uri.path)", "error": "\(fault.problem)"])
        }
        // If the connection ended, nobody gets the answer. Such an answer counts as status 499.
        let counted = body.fault?.isGone == true ? 499 : response.status.code
        settings.headers.complete(
            &response.headers, requestID: context.requestID, standing: context.rate.standing)
        let took = ContinuousClock.now - started
        settings.onAnswer(request.method.rawValue, context.endpointPath, counted, took)
        if settings.logger.logLevel <= .debug {
            context.log.debug(
                "answered",
                metadata: [
                    "method": "\(request.method.rawValue)", "path": "\(request.uri.path)",
                    "status": "\(counted)", "seconds": "\(took)",
                ])
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(
        _ request: Request, _ context: APIContext, _ next: (Request, APIContext) async throws -> Response
    ) async -> Response {
        do {
            // The router ignores empty segments.
            guard !request.uri.path.contains("//") else {
                throw Problem(.notFound, "There is nothing at \(request.uri.path): it has an empty segment.")
            }
            return try await next(request, context)
        } catch let broken as BrokenBody {
            return broken.problem.response(requestID: context.requestID)
        } catch let problem as Problem {
            return problem.response(requestID: context.requestID)
        } catch let error as HTTPError {
            var response = translate(error, request).response(requestID: context.requestID)
            if error.status == .notFound, let allowed = table.methods(at: request.uri.path) {
                response.headers[.allow] = allowed.map(\.rawValue).joined(separator: ", ")
            }
            return response
        } catch {
            context.log.error(
                "a request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            return Problem(
                .internalError,
                "The request failed because of an error in the server. The server's log has the cause under "
                    + "\(context.requestID)."
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
