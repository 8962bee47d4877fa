internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Answers the requests for pages: checks session, key and form, and makes pages of the answers and of errors.
struct PageResponder: Sendable {
    let templates: ConsoleTemplates
    let sessions: Sessions
    let cookie: SessionCookie
    let api: API
    /// The API's routes, whose operations pages call.
    let routes: [Route]

    func now() -> Date { api.now() }

    /// Shows a page, or performs the action of a form after checking that the form is from this session.
    func respond(_ route: PageRoute, _ request: Request, _ context: APIContext) async -> Response {
        let isForm = route.form != nil
        let back = isForm ? Self.back(request) : request.uri.path
        let next = isForm ? back : request.uri.string
        guard !isForm || FormOrigin.isOurs(request) else {
            return refusal(
                Self.foreign("Nothing was sent. Open the console and use the form there."), request, context)
        }
        guard let text = SessionCookie.value(SessionCookie.name, in: request) else {
            guard isForm else { return redirect(to: ConsolePath.signIn(returningTo: next)) }
            return signedOut(
                Problem(.unauthenticated, "There is no session."), next: next, request, nothingSent: true)
        }
        var sender: SignedIn?
        var form: FormFields?
        do {
            // Only this server's script can set this header; browsers do not let other sites set it.
            let isFromScript = !isForm && request.headers[.grandstandLive] != nil
            let signedIn = try await sessions.signedIn(text, extendsSession: !isFromScript)
            sender = signedIn
            try api.resume(signedIn.key, context, for: [])
            api.keys.used(signedIn.key)
            try Self.check(signedIn.key, for: route.scope)
            var visit = Visit(
                key: signedIn.key, query: try FormFields(request.uri.query ?? "").storable(), path: request.uri.path,
                parameters: context.parameters, now: now(),
                perform: { try await perform($0, as: signedIn.key, context) })
            if let rules = route.form {
                visit.fields = try await FormBody.fields(of: request, upTo: rules.bodyLimit)
                form = visit.fields
                visit.token = try token(visit.fields, signedIn)
                if rules.isIrreversible { try await confirm(visit.fields, signedIn, context) }
            }
            return response(to: try await route.handler(visit), visit, signedIn, request)
        } catch let problem as Problem where problem.kind == .unauthenticated {
            return signedOut(problem, next: next, request, nothingSent: isForm)
        } catch {
            guard let form, let refused = Problem(shown: error) else {
                return refusal(error, request, context, sender, at: back)
            }
            let page = ResourcePage(refused, route.form, form, path: request.uri.string, back: back)
            return response(page, for: refused, sender, at: back)
        }
    }

    // MARK: Checks

    /// - Throws: `forbidden`, which names the missing scope.
    private static func check(_ key: APIKey, for scope: Contract.Scope?) throws(Problem) {
        guard let scope, !key.holds(scope) else { return }
        let held = Contract.Scope.allCases.filter(key.scopes.contains).map(\.rawValue).joined(separator: ", ")
        throw Problem(
            .forbidden,
            "This page needs a key with the scope \(scope.rawValue); the key \(key.name) holds \(held). Sign out, and in "
                + "again with another one.")
    }

    /// - Throws: `forbidden`.
    private func token(_ fields: FormFields, _ signedIn: SignedIn) throws(Problem) -> FormToken {
        switch FormToken.read(fields["token"], for: signedIn.session, now: now()) {
        case .valid(let token): return token
        case .expired:
            throw Problem(
                .forbidden, titled: "This form is too old",
                "It lay open for more than four hours. Nothing was sent. Open the page again, or look through what "
                    + "you typed below and send it from here.")
        case .foreign:
            throw Problem(
                .forbidden, titled: "This form is of another session",
                "It is not from a page of this session: you may have signed in anew since. Nothing was sent. Open "
                    + "the page again, or look through what you typed below and send it from here.")
        }
    }

    /// Checks the key in the form, for actions that cannot be undone.
    private func confirm(_ fields: FormFields, _ signedIn: SignedIn, _ context: APIContext) async throws {
        guard let secret = fields["currentKey"] else {
            throw Problem(
                .invalidRequest, titled: "The key is missing",
                "This cannot be undone, so enter the key again that you signed in with. Nothing was sent.")
        }
        do {
            let key = try await identify(secret, context)
            guard key.id == signedIn.key.id else {
                throw api.refusal("That is another key than the one you signed in with.", context)
            }
        } catch let problem as Problem where [.unauthenticated, .rateLimited].contains(problem.kind) {
            // If the form was sent twice, the first request may have ended the key. In this case, `signedIn` throws
            // `unauthenticated`.
            _ = try await sessions.signedIn(signedIn.session.text, extendsSession: false)
            throw Problem(
                problem.kind == .rateLimited ? .rateLimited : .forbidden, titled: "The key is wrong",
                "\(problem.detail) Nothing was sent.", retryAfter: problem.retryAfter)
        }
    }

    /// The key with this secret.
    ///
    /// - Throws: `unauthenticated`, which counts as a failure of the caller's address; `rate-limited`.
    func identify(_ secret: String, _ context: APIContext) async throws -> APIKey {
        let key = try await api.identify(secret, context, for: [])
        api.keys.used(key)
        return key
    }

    /// The page that contained the form. It is the page in `Referer` if that page is of this server, and otherwise the
    /// overview.
    private static func back(_ request: Request) -> String {
        let referrer = request.headers[.referer] ?? ""
        guard let start = referrer.firstRange(of: "://")?.upperBound,
            let slash = referrer[start...].firstIndex(of: "/"),
            referrer[start..<slash].lowercased() == request.head.authority?.lowercased()
        else { return ConsolePath.overview }
        return ConsolePath.returning(to: String(referrer[slash...]))
    }

    /// The refusal of a form that another site sent. Such a form is not counted as an attempt with a wrong key.
    static func foreign(_ advice: String) -> Problem {
        Problem(
            .forbidden, titled: "This form is not of this server",
            "It was not sent from a page of this server. \(advice)")
    }

    /// Calls an operation with a key, as its route does: the same checks, the same handler, and the same stored answers.
    /// Only the key's limit does not count the call, because the page is counted.
    ///
    /// - Throws: the problem that the API would answer with.
    private func perform(_ call: PageCall, as key: APIKey, _ context: APIContext) async throws -> Response {
        guard var route = routes.first(where: { $0.operation.id == call.operation.id }) else {
            throw Problem(.notFound, "This server has no operation \(call.operation.id).")
        }
        // A form that is sent twice has its effect once, whatever the operation's method is.
        route.keepsAnswers = call.idempotencyKey != nil
        var context = context
        context.key = key
        context.coreContext.parameters = call.parameters
        try API.check(key, for: route.scopes)
        try API.checkApp(key, context, to: route)
        context.query = try QueryParameters(call.queryText, known: route.operation.query)
        return try await api.answer(call.request(route.method), context, route)
    }

    // MARK: Responses

    /// The sign-in page after a session has ended.
    ///
    /// - Parameter next: the page that is shown after signing in.
    private func signedOut(_ problem: Problem, next: String, _ request: Request, nothingSent: Bool) -> Response {
        let fault = "You were signed out: \(problem.detail)" + (nothingSent ? " Nothing was sent." : "")
        var response = response(SignIn(returningTo: next, fault: fault), for: problem)
        response.setCookie(cookie.cookie(SessionCookie.name, "", maxAge: 0, for: request))
        return response
    }

    /// A page that explains the error and says what to do.
    func refusal(
        _ error: any Error, _ request: Request, _ context: APIContext, _ signedIn: SignedIn? = nil, at path: String = ""
    ) -> Response {
        let known = Problem(shown: error)
        if known == nil {
            context.log.error("a page failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
        }
        let problem =
            known
            ?? Problem(.internalError, "The server's log has the cause, under the request's name below.")
        return response(ResourcePage(problem, requestID: context.requestID), for: problem, signedIn, at: path)
    }

    private func response(
        to answer: PageRoute.Answer, _ visit: Visit, _ signedIn: SignedIn, _ request: Request
    ) -> Response {
        switch answer {
        case .page(let page, let status):
            // The answer to a form does not reload itself, because a reload would send the form again.
            let isForm = visit.token != nil
            let refresh = (isForm ? nil : page.refresh).map { seconds in
                Refresh(
                    seconds: seconds, path: visit.path, query: request.uri.query,
                    isOff: visit.query["refresh"] == "off")
            }
            // A script that fetches the page gets no notice: the notice is for the next page.
            let kept =
                request.headers[.grandstandLive] == nil
                ? SessionCookie.value(SessionCookie.noticeName, in: request) : nil
            var response = response(
                page, status: .init(code: status), signedIn, at: visit.path, refresh: refresh,
                notice: isForm ? nil : kept.flatMap { Notice.text($0, for: signedIn.session) })
            if kept != nil {
                response.setCookie(cookie.cookie(SessionCookie.noticeName, "", maxAge: 0, for: request))
            }
            return response
        case .elsewhere(let path, let notice):
            var response = redirect(to: path)
            if let notice {
                response.setCookie(
                    cookie.cookie(
                        SessionCookie.noticeName, Notice.value(notice, for: signedIn.session),
                        maxAge: SessionCookie.noticeLifetime, for: request))
            }
            return response
        }
    }

    func redirect(to path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path])
    }

    /// - Parameters:
    ///   - problem: what the page explains, with its own status.
    ///   - path: the page that people came from.
    func response(
        _ page: any ConsolePage, status: HTTPResponse.Status = .ok, for problem: Problem? = nil,
        _ signedIn: SignedIn? = nil, at path: String = "", refresh: Refresh? = nil, notice: String? = nil
    ) -> Response {
        let now = now()
        let frame = Frame(
            title: page.title, visitor: signedIn.map { Visitor(key: $0.key, path: path) }, refresh: refresh,
            notice: notice,
            token: signedIn.map { FormToken.text(for: $0.session, now: now) } ?? "", madeAt: Moment(now, exact: true))
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.contentSecurityPolicy,
            .referrerPolicy: "same-origin", .cacheControl: "no-store",
        ]
        headers[.retryAfter] = problem?.retryAfter.map(String.init)
        return Response(
            status: problem.map { .init(code: $0.status) } ?? status, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: templates.html(page, frame))))
    }

    /// The policy allows one stylesheet, one script and forms, all from this server and none of them inline. It allows
    /// nothing from other servers, and no other site may put a page into a frame.
    private static let contentSecurityPolicy =
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'"
}
