internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Answers the requests for pages: checks session, key and form, and makes pages of the answers and of errors.
struct PageResponder: Sendable {
    let console: Console
    let api: API
    /// The API's routes, whose operations pages call.
    let apiRoutes: [Route]

    /// Adds the console to a router that has the API's routes.
    func add(to router: Router<APIContext>) {
        addSignIn(to: router)
        // These files need no session, because the sign-in page uses them.
        for (type, file) in [("text/css", "style.css"), ("text/javascript", "console.js")] {
            let text = ByteBuffer(string: EmbeddedFiles.texts[file] ?? "")
            router.get(RouterPath(Console.path + "/" + file)) { _, _ in
                Response.content(type + "; charset=utf-8", text, headers: [.cacheControl: "public, max-age=300"])
            }
        }
        for page in api.pages {
            router.on(RouterPath(page.pattern), method: page.form == nil ? .get : .post) { request, context in
                await respond(page, request, context)
            }
        }
    }

    /// Shows a page, or performs the action of a form after checking that the form is from this session.
    private func respond(_ route: PageRoute, _ request: Request, _ context: APIContext) async -> Response {
        let isForm = route.form != nil
        let path = request.uri.path
        let back = isForm ? Self.backPath(request) : path
        var sender: SignedIn?
        var form: FormFields?
        do {
            if isForm { try request.checkOrigin() }
            guard let session = request.session else {
                if isForm { throw Problem(.unauthenticated, "There is no session.") }
                return redirect(to: ConsolePath.signIn(returningTo: request.uri.string))
            }
            // Only this server's script can set this header; browsers do not let other sites set it.
            let isFromScript = !isForm && request.headers[.grandstandLive] != nil
            let signedIn = try await api.useSession(session, extends: !isFromScript)
            sender = signedIn
            try api.countRequest(signedIn.key, context, for: [])
            try API.check(signedIn.key, for: route.scope.map { [$0] })
            var visit = Visit(
                key: signedIn.key, query: QueryParameters(FormFields(request.uri.query ?? "")), path: path,
                parameters: context.parameters, now: api.now(),
                perform: { try await perform($0, as: signedIn.key, context) })
            if isForm {
                visit.fields = try await FormFields(of: request, upTo: Self.maxFormBytes)
                form = visit.fields
                visit.formID = signedIn.session.formID(visit.fields["token"])
                guard visit.formID != nil else { throw Self.otherSession }
                if route.form == .irreversible { try await confirmKey(visit.fields, signedIn, context) }
            }
            switch try await route.handler(visit) {
            case .page(let page, let status):
                return response(page, status: status, signedIn, at: path, isLive: !isForm)
            case .redirect(let path, let notice):
                // The action is done, whether or not the next page says so.
                if let notice { try? await api.tell(notice, signedIn.session) }
                return redirect(to: path)
            }
        } catch let problem as Problem where problem.kind == .unauthenticated {
            // The sign-in page after a session has ended.
            let fault = "You were signed out: \(problem.detail)" + (isForm ? " Nothing was sent." : "")
            let page = SignIn(returningTo: isForm ? back : request.uri.string, fault: fault)
            return withCookie("", of: request, in: response(page, for: problem))
        } catch {
            guard let form, let refused = Problem(shown: error) else {
                return refusal(error, request, context, sender, at: back)
            }
            let page = ResourcePage(
                refused, form, path: request.uri.string, back: back, asksForKey: route.form == .irreversible)
            return response(page, for: refused, sender, at: back)
        }
    }

    /// The maximum size of a form in bytes. It is enough for some hundred variants with contents of 5,120 bytes each,
    /// form-encoded.
    private static let maxFormBytes = 2 * 1_024 * 1_024

    // MARK: Checks

    static let otherSession = Problem(
        .forbidden,
        "This form is of another session: you may have signed in anew since. Nothing was sent. Open the page again, or "
            + "look through what you typed and send it again.")

    /// Checks the key in the form, for actions that cannot be undone.
    private func confirmKey(_ fields: FormFields, _ signedIn: SignedIn, _ context: APIContext) async throws {
        do {
            let key = try await api.authenticate(fields["currentKey"] ?? "", context, for: [])
            guard key.id == signedIn.key.id else {
                throw api.countFailure("That is another key than the one you signed in with.", context)
            }
        } catch let problem as Problem where [.unauthenticated, .rateLimited].contains(problem.kind) {
            throw Problem(
                problem.kind == .rateLimited ? .rateLimited : .forbidden,
                "The key is wrong. \(problem.detail) Nothing was sent.", retryAfter: problem.retryAfter)
        }
    }

    /// The page of this server that contained the form, by `Referer`.
    private static func backPath(_ request: Request) -> String {
        let referrer = request.headers[.referer] ?? ""
        let start = referrer.firstRange(of: Console.path)?.lowerBound
        return ConsolePath.safeReturn(to: start.map { String(referrer[$0...]) })
    }

    /// Calls an operation with a key, as its route does: the same checks, the same handler, and the same stored answers.
    /// Only the key's limit does not count the call, because the page is counted.
    ///
    /// - Throws: the problem that the API would answer with.
    private func perform(_ call: PageCall, as key: APIKey, _ context: APIContext) async throws -> Response {
        guard var route = apiRoutes.first(where: { $0.operation.id == call.operation.id }) else {
            throw Problem(.notFound, "This server has no operation \(call.operation.id).")
        }
        // A form that is sent twice has its effect once, whatever the operation's method is.
        route.keepsAnswers = call.headers.contains(.idempotencyKey)
        var context = context
        context.key = key
        context.coreContext.parameters = call.parameters
        context.query = QueryParameters(of: call.query)
        try API.check(key, for: route.scopes)
        try API.checkApp(key, context, route)
        var headers = call.headers
        headers[.contentLength] = String(call.body?.count ?? 0)
        if call.body != nil { headers[.contentType] = "application/json" }
        let head = HTTPRequest(
            method: route.method, scheme: nil, authority: nil, path: call.operation.path, headerFields: headers)
        let body = RequestBody(buffer: ByteBuffer(bytes: call.body ?? []))
        return try await api.answer(Request(head: head, body: body), context, route)
    }

    // MARK: Responses

    /// A page that explains the error and says what to do.
    func refusal(
        _ error: any Error, _ request: Request, _ context: APIContext, _ signedIn: SignedIn? = nil, at path: String = ""
    ) -> Response {
        let problem =
            Problem(shown: error)
            ?? Problem(.internalError, "The server's log has the cause, under the request's name below.")
        if problem.kind == .internalError {
            context.log.error("a page failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
        }
        return response(ResourcePage(problem, requestID: context.requestID), for: problem, signedIn, at: path)
    }

    func redirect(to path: String) -> Response { Response(status: .seeOther, headers: [.location: path]) }

    /// The answer with the cookie of a session; an empty secret deletes the cookie.
    func withCookie(_ secret: String, of request: Request, in response: Response) -> Response {
        var response = response
        response.setCookie(request.sessionCookie(secret, isSecure: api.servesTLS))
        return response
    }

    /// - Parameters:
    ///   - problem: what the page explains, with its own status.
    ///   - path: the path of the page, or that people came from.
    ///   - isLive: whether the page's script may fetch the page again.
    func response(
        _ page: any ConsolePage, status: Int = 200, for problem: Problem? = nil, _ signedIn: SignedIn? = nil,
        at path: String = "", isLive: Bool = false
    ) -> Response {
        var headers: HTTPFields = [
            .contentSecurityPolicy: Self.contentSecurityPolicy, .referrerPolicy: "same-origin",
            .cacheControl: "no-store",
        ]
        headers[.retryAfter] = problem?.retryAfter.map(String.init)
        let html = console.html(Frame(page, signedIn, path: path, isLive: isLive, now: api.now()))
        return .content(
            "text/html; charset=utf-8", ByteBuffer(string: html), status: .init(code: problem?.status ?? status),
            headers: headers)
    }

    /// The policy allows one stylesheet, one script and forms, all from this server and none of them inline. It allows
    /// nothing from other servers, and no other site may put a page into a frame.
    private static let contentSecurityPolicy =
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'"
}
