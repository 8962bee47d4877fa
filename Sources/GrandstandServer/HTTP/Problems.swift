internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Logging
internal import NIOCore

/// Wraps every request: sets its ID, converts errors to problems, and adds the headers of every answer.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = APIContext

    let api: API
    let routes: [Route]
    let headers: StandingHeaders
    /// Explains problems of the console's pages.
    let pages: PageResponder?

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let started = ContinuousClock.now
        var context = context
        if let named = request.headers[.xRequestID].flatMap(RequestID.init) {
            context.requestID = named.rawValue
        }
        context.logger = api.logger
        let share = RequestShare(api.bodies)
        defer { share.leave() }
        let request = request.forwarded(by: api.configuration.trustedProxies, &context)
        var response = await RequestShare.$current.withValue(share) { await answer(request, context, next) }
        if let fault = share.fault {
            response.headers[.connection] = "close"
            context.log.debug(
                "a body is broken", metadata: ["path": "\(request.uri.path)", "error": "\(fault.problem)"])
        }
        // If the connection ended, nobody gets the answer. Such an answer counts as status 499.
        let counted = share.fault?.isGone == true ? 499 : response.status.code
        headers.complete(&response.headers, requestID: context.requestID, standing: share.rate)
        let took = ContinuousClock.now - started
        api.metrics.answered(
            method: request.method.rawValue, path: context.endpointPath, status: counted, time: took)
        if api.logger.logLevel <= .debug {
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
        } catch {
            let path = request.uri.path
            guard let pages, path == Console.path || path.hasPrefix(Console.path + "/") else {
                return explain(error, request, context)
            }
            let isMissing = (error as? HTTPError)?.status == .notFound
            let problem = Problem(.notFound, "There is no page at \(path).")
            return pages.refusal(isMissing ? problem : error, request, context)
        }
    }

    private func explain(_ error: any Error, _ request: Request, _ context: APIContext) -> Response {
        switch error {
        case let problem as Problem: return problem.response(requestID: context.requestID)
        case let error as HTTPError:
            let path = request.uri.path
            let allowed = error.status == .notFound ? methods(at: path) : ""
            let problem =
                error.status != .notFound
                ? Problem(.invalidRequest, error.body ?? "The request cannot be understood.")
                : allowed.isEmpty
                    ? Problem(.notFound, "There is nothing at \(path).")
                    : Problem(.methodNotAllowed, "\(path) takes \(allowed), not \(request.method.rawValue).")
            var response = problem.response(requestID: context.requestID)
            if !allowed.isEmpty { response.headers[.allow] = allowed }
            return response
        default:
            context.log.error(
                "a request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            return Problem(
                .internalError,
                "The request failed because of an error in the server. The server's log has the cause under "
                    + "\(context.requestID)."
            ).response(requestID: context.requestID)
        }
    }

    /// The allowed methods of a path; empty: no route has this path. As in the router, a literal segment has precedence
    /// over a parameter.
    private func methods(at path: String) -> String {
        let segments = path.split(separator: "/")
        let matching: [(method: String, words: Int)] = routes.compactMap { route in
            let template = route.operation.path.split(separator: "/")
            guard template.count == segments.count,
                zip(template, segments).allSatisfy({ $0.hasPrefix("{") || $0 == $1 })
            else { return nil }
            return (route.method.rawValue, template.count { !$0.hasPrefix("{") })
        }
        let most = matching.map(\.words).max()
        let methods = matching.filter { $0.words == most }.map(\.method)
        return (methods + (methods.contains("GET") ? ["HEAD"] : [])).joined(separator: ", ")
    }
}

extension Response {
    /// A JSON answer with a resource of openapi.yaml.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        json(bytes: JSONWriter.text(value), status: status, headers: headers)
    }

    /// A JSON answer with its `ETag`.
    static func json(_ versioned: Versioned<some Encodable>, status: HTTPResponse.Status = .ok) -> Response {
        json(versioned.value, status: status, headers: .version(versioned.version))
    }

    /// A JSON answer that was written before.
    static func json(bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        content("application/json", ByteBuffer(bytes: bytes), status: status, headers: headers)
    }

    /// An answer whose body is in memory.
    static func content(
        _ type: String, _ body: ByteBuffer, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    static var noContent: Response { Response(status: .noContent) }
}

extension Problem {
    func response(requestID: String) -> Response {
        var headers: HTTPFields = [:]
        if let maxAge { headers[.cacheControl] = "public, max-age=\(maxAge)" }
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if let age { headers.append(contentsOf: HTTPFields.stale(age)) }
        if kind == .unauthenticated { headers[.wwwAuthenticate] = "Bearer" }
        let bytes = ByteBuffer(bytes: JSONWriter.text(body(named: requestID)))
        return .content("application/problem+json", bytes, status: .init(code: body.status), headers: headers)
    }
}
