internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Answers every request to the console: finds the key behind the cookie, checks that it may see the page, and makes a
/// page of whatever goes wrong.
struct PageResponder: Sendable {
    let templates: ConsoleTemplates
    let cookie: SessionCookie
    let status: @Sendable (Problem.Kind) -> HTTPResponse.Status
    let now: @Sendable () -> Date

    init(
        templates: ConsoleTemplates, isSecure: Bool, status: @escaping @Sendable (Problem.Kind) -> HTTPResponse.Status,
        now: @escaping @Sendable () -> Date
    ) {
        self.templates = templates
        cookie = SessionCookie(isSecure: isSecure)
        self.status = status
        self.now = now
    }

    /// Shows a page to a key that may see it.
    func show(_ route: PageRoute, _ request: Request, _ context: ConsoleContext) async -> Response {
        guard let secret = SessionCookie.secret(in: request) else {
            return redirect(to: ConsolePath.signIn(returningTo: request.uri.string))
        }
        var visitor: Visitor?
        do {
            let key = try await context.source.identify(secret)
            visitor = Visitor(key: key, path: request.uri.path)
            try Self.check(key, for: route.scope)
            let visit = Visit(
                key: key, query: FormFields(request.uri.query ?? ""), path: request.uri.path,
                parameters: context.parameters, now: now())
            switch try await route.handler(visit) {
            case .page(let page):
                let refresh = page.refresh.map { seconds in
                    Refresh(
                        seconds: seconds, path: request.uri.path, query: request.uri.query,
                        isOff: visit.query["refresh"] == "off")
                }
                return html(page, visitor, refresh: refresh)
            case .elsewhere(let path): return redirect(to: path)
            }
        } catch let problem as Problem where problem.kind == .unauthenticated {
            var response = signIn(
                SignIn(returningTo: request.uri.string, fault: "You were signed out: \(problem.detail)"),
                status: .unauthorized)
            response.setCookie(cookie.closed(for: request))
            return response
        } catch {
            return refusal(error, visitor, request, context)
        }
    }

    /// The form to sign in with.
    func signIn(_ page: SignIn, status: HTTPResponse.Status = .ok, retryAfter: Int? = nil) -> Response {
        var response = html(page, nil, status: status)
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }

    /// A page that says what went wrong and what to do.
    func refusal(
        _ error: any Error, _ visitor: Visitor?, _ request: Request, _ context: ConsoleContext
    ) -> Response {
        let problem: Problem
        if let known = error as? Problem {
            problem = known
        } else {
            context.logger.error("a page failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            problem = Problem(.internalError, "The log has more, under the request's name below.")
        }
        var response = html(
            ProblemPage(problem, requestID: context.source.requestID), visitor, status: status(problem.kind))
        if let retryAfter = problem.retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }

    func redirect(to path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path])
    }

    private func html(
        _ page: any ConsolePage, _ visitor: Visitor?, refresh: Refresh? = nil, status: HTTPResponse.Status = .ok
    ) -> Response {
        let frame = Frame(page: page, visitor: visitor, refresh: refresh, now: now())
        return Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.contentSecurityPolicy,
                .referrerPolicy: "same-origin", .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: templates.html(page, frame))))
    }

    /// No scripts, nothing from elsewhere, no place in other sites' frames; one stylesheet and forms, both ours.
    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    /// - Throws: `forbidden`, which says what is missing.
    private static func check(_ key: APIKey, for scope: APIKey.Scope?) throws(Problem) {
        guard let scope, !key.holds(scope) else { return }
        let held = APIKey.Scope.allCases.filter(key.scopes.contains).map(\.rawValue).joined(separator: ", ")
        throw Problem(
            .forbidden,
            "This page needs a key with the scope \(scope.rawValue); the key \(key.name) holds \(held). Sign out, and in "
                + "again with another one.")
    }
}

/// Makes pages of errors that no page has answered.
struct ErrorPages: RouterMiddleware {
    typealias Context = ConsoleContext

    let responder: PageResponder

    func handle(
        _ request: Request, context: ConsoleContext, next: (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            let problem = Problem(.notFound, "There is no page at \(request.uri.path).")
            return responder.refusal(problem, nil, request, context)
        } catch {
            return responder.refusal(error, nil, request, context)
        }
    }
}
