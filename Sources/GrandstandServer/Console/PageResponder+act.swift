internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

extension PageResponder {
    /// Performs the action of a form, after checking that the form is from this session.
    func act(_ route: ActionRoute, _ request: Request, _ context: ConsoleContext) async -> Response {
        let back = Self.back(request)
        guard FormOrigin.isOurs(request) else {
            let foreign = Self.foreign("Nothing was sent. Open the console and use the form there.")
            return refusal(foreign, nil, nil, request, context)
        }
        guard let text = SessionCookie.value(SessionCookie.name, in: request) else {
            let problem = Problem(.unauthenticated, "There is no session.")
            return signedOut(problem, next: back, request, nothingSent: true)
        }
        var visitor: Visitor?
        var session: SessionSecret?
        var fields: FormFields?
        do {
            let signedIn = try await sessions.signedIn(text, extendsSession: true)
            session = signedIn.session
            visitor = Visitor(key: signedIn.key, path: back)
            let access = context.access
            try access.countRequest(of: signedIn.key)
            try Self.check(signedIn.key, for: route.scope)
            let read = try await FormBody.fields(of: request, upTo: route.bodyLimit)
            fields = read
            let token = try token(read, signedIn)
            if route.irreversible { try await confirm(read, signedIn, access) }
            let visit = visit(signedIn, request, context)
            let answer = try await route.handler(Submission(visit: visit, fields: read, token: token))
            return response(to: outcome(answer, visit, request), signedIn, request)
        } catch let problem as Problem where problem.kind == .unauthenticated {
            return signedOut(problem, next: back, request, nothingSent: true)
        } catch {
            guard let fields, let visitor, let refused = APIProblem(error) else {
                return refusal(error, visitor, session, request, context)
            }
            return response(to: refused, visitor, session) {
                ResourcePage(refused, route, fields, path: request.uri.string, back: back)
            }
        }
    }

    /// - Throws: `APIProblem`.
    private func token(_ fields: FormFields, _ signedIn: SignedIn) throws(APIProblem) -> FormToken {
        switch FormToken.read(fields["token"], for: signedIn.session, now: now()) {
        case .valid(let token): return token
        case .expired:
            throw APIProblem(
                status: 403, title: "This form is too old",
                detail:
                    "It lay open for more than four hours. Nothing was sent. Open the page again, or look through what "
                    + "you typed below and send it from here.")
        case .foreign:
            throw APIProblem(
                status: 403, title: "This form is of another session",
                detail:
                    "It is not from a page of this session: you may have signed in anew since. Nothing was sent. Open "
                    + "the page again, or look through what you typed below and send it from here.")
        }
    }

    /// Checks the key in the form, for actions that cannot be undone.
    private func confirm(_ fields: FormFields, _ signedIn: SignedIn, _ access: PageAccess) async throws {
        guard let secret = fields["currentKey"] else {
            throw APIProblem(
                status: 422, title: "The key is missing",
                detail: "This cannot be undone, so enter the key again that you signed in with. Nothing was sent.")
        }
        do {
            let key = try await access.identify(secret)
            guard key.id == signedIn.key.id else {
                throw access.refusal("That is another key than the one you signed in with.")
            }
        } catch let problem as Problem where [.unauthenticated, .rateLimited].contains(problem.kind) {
            // If the form was sent twice, the first request may have ended the key. In this case, `signedIn` throws
            // `unauthenticated`.
            _ = try await sessions.signedIn(signedIn.session.text, extendsSession: false)
            throw APIProblem(
                status: problem.kind == .rateLimited ? 429 : 403, title: "The key is wrong",
                detail: "\(problem.detail) Nothing was sent.", retryAfter: problem.retryAfter)
        }
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
    static func foreign(_ advice: String) -> APIProblem {
        APIProblem(
            status: 403, title: "This form is not of this server",
            detail: "It was not sent from a page of this server. \(advice)")
    }
}
