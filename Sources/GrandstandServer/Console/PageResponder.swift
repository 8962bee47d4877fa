internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Makes the responses with pages, and the pages for errors.
struct PageResponder: Sendable {
    let templates: ConsoleTemplates
    let sessions: Sessions
    let cookie: SessionCookie
    let now: @Sendable () -> Date

    /// The form to sign in with.
    func signIn(_ page: SignIn, status: HTTPResponse.Status = .ok, retryAfter: Int? = nil) -> Response {
        var response = response(page, status: status, nil)
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }

    /// The sign-in page after a session has ended.
    ///
    /// - Parameter next: the page that is shown after signing in.
    func signedOut(_ problem: Problem, next: String, _ request: Request, nothingSent: Bool = false) -> Response {
        let fault = "You were signed out: \(problem.detail)" + (nothingSent ? " Nothing was sent." : "")
        var response = signIn(SignIn(returningTo: next, fault: fault), status: .unauthorized)
        response.setCookie(cookie.cookie(SessionCookie.name, "", maxAge: 0, for: request))
        return response
    }

    /// A page that explains the error and says what to do.
    func refusal(
        _ error: any Error, _ request: Request, _ context: ConsoleContext, _ signedIn: SignedIn? = nil,
        at path: String = ""
    ) -> Response {
        let known = Problem(shown: error)
        if known == nil {
            context.logger.error("a page failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
        }
        let problem =
            known
            ?? Problem(.internalError, "The server's log has the cause, under the request's name below.")
        return response(
            to: problem, signedIn, at: path, ResourcePage(problem, requestID: context.access.context.requestID))
    }

    /// The page of a problem, with the problem's status.
    func response(
        to problem: Problem, _ signedIn: SignedIn?, at path: String, _ page: any ConsolePage
    ) -> Response {
        var response = response(page, status: .init(code: problem.status), signedIn, at: path)
        if let retryAfter = problem.retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }

    func redirect(to path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path])
    }

    /// - Parameter path: the page that people came from.
    func response(
        _ page: any ConsolePage, status: HTTPResponse.Status = .ok, _ signedIn: SignedIn?, at path: String = "",
        refresh: Refresh? = nil, notice: String? = nil
    ) -> Response {
        let now = now()
        let frame = Frame(
            title: page.title, visitor: signedIn.map { Visitor(key: $0.key, path: path) }, refresh: refresh,
            notice: notice,
            token: signedIn.map { FormToken.text(for: $0.session, now: now) } ?? "", madeAt: Moment(now, exact: true))
        return Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.contentSecurityPolicy,
                .referrerPolicy: "same-origin", .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: templates.html(page, frame))))
    }

    /// The policy allows one stylesheet, one script and forms, all from this server and none of them inline. It allows
    /// nothing from other servers, and no other site may put a page into a frame.
    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'"

    /// - Throws: `forbidden`, which names the missing scope.
    static func check(_ key: APIKey, for scope: Contract.Scope?) throws(Problem) {
        guard let scope, !key.holds(scope) else { return }
        let held = Contract.Scope.allCases.filter(key.scopes.contains).map(\.rawValue).joined(separator: ", ")
        throw Problem(
            .forbidden,
            "This page needs a key with the scope \(scope.rawValue); the key \(key.name) holds \(held). Sign out, and in "
                + "again with another one.")
    }
}

/// Turns errors that no route has handled into pages.
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
            return responder.refusal(problem, request, context)
        } catch {
            return responder.refusal(error, request, context)
        }
    }
}
