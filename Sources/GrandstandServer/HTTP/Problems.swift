internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Logging
internal import NIOCore
internal import Postgres

/// Wraps every request: sets its ID, converts errors to problems, and adds the headers of every answer.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = APIContext

    let api: API
    let routes: [Route]
    let headers: CommonHeaders
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
        let share = RequestShare(api.bodyRoom)
        defer { share.release() }
        let request = request.forwarded(by: api.configuration.trustedProxies, &context)
        // Each request waits for the database for a limited time.
        let limit = PostgresTimeLimit.forRequest(api.configuration.databaseTimeout)
        var response = await PostgresTimeLimit.$current.withValue(limit) {
            await RequestShare.$current.withValue(share) { await answer(request, context, next) }
        }
        if share.clientLeft != nil { response.headers[.connection] = "close" }
        // If the connection ended, nobody gets the answer. Such an answer counts as status 499.
        let counted = share.clientLeft == true ? 499 : response.status.code
        headers.complete(&response.headers, requestID: context.requestID, standing: share.rate)
        let (method, took) = (request.method.rawValue, ContinuousClock.now - started)
        api.metrics.onAnswer(method: method, path: context.endpointPath ?? "none", status: counted)(took)
        if api.logger.logLevel <= .debug {
            context.log.debug("\(method) \(request.uri.path): \(counted) after \(took)")
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(
        _ request: Request, _ context: APIContext, _ next: (Request, APIContext) async throws -> Response
    ) async -> Response {
        do {
            // The router ignores empty segments.
            guard !request.uri.path.contains("//") else {
                throw Problem(.notFound, "There is nothing at \(request.uri.path).")
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
        let path = request.uri.path
        var allowed = ""
        let problem: Problem
        switch error {
        case let known as Problem: problem = known
        case let missing as HTTPError where missing.status == .notFound:
            allowed = methods(at: path)
            problem =
                allowed.isEmpty
                ? Problem(.notFound, "There is nothing at \(path).")
                : Problem(.methodNotAllowed, "\(path) takes only \(allowed).")
        case let unclear as HTTPError:
            problem = Problem(.invalidRequest, unclear.body ?? "The request cannot be understood.")
        default:
            context.log.error("a request failed", metadata: ["path": "\(path)", "error": "\(error)"])
            problem = Problem(.internalError, "The request failed. The server's log has the cause.")
        }
        var response = problem.response(requestID: context.requestID)
        if !allowed.isEmpty { response.headers[.allow] = allowed }
        return response
    }

    /// The allowed methods of a path; empty: no route has this path.
    private func methods(at path: String) -> String {
        let segments = path.split(separator: "/")
        let fitting = routes.filter { route in
            let template = route.operation.path.split(separator: "/")
            return template.elementsEqual(segments) { $0.hasPrefix("{") || $0 == $1 }
        }
        // A path that is named in full comes before one with parameters.
        let fewest = fitting.map { $0.operation.path.count { $0 == "{" } }.min()
        let methods = fitting.filter { $0.operation.path.count { $0 == "{" } == fewest }.map(\.method.rawValue)
        return (methods + (methods.contains("GET") ? ["HEAD"] : [])).joined(separator: ", ")
    }
}

extension Response {
    /// A JSON answer with a resource of openapi.yaml.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response { json(bytes: JSONWriter.text(value), status: status, headers: headers) }

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
