internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

extension PageResponder {
    /// Performs the action of a form, after checking that the form is from this session.
    func act(_ route: ActionRoute, _ request: Request, _ context: ConsoleContext) async -> Response {
        let back = Self.back(request)
        guard FormOrigin.isOurs(request) else {
            let foreign = Self.foreign("Nothing was sent. Open the console and use the form there.")
            return refusal(foreign, request, context)
        }
        guard let text = SessionCookie.value(SessionCookie.name, in: request) else {
            let problem = Problem(.unauthenticated, "There is no session.")
            return signedOut(problem, next: back, request, nothingSent: true)
        }
        var sender: SignedIn?
        var fields: FormFields?
        do {
            let signedIn = try await sessions.signedIn(text, extendsSession: true)
            sender = signedIn
            let access = context.access
            try access.countRequest(of: signedIn.key)
            try Self.check(signedIn.key, for: route.scope)
            let read = try await FormBody.fields(of: request, upTo: route.bodyLimit)
            fields = read
            let token = try token(read, signedIn)
            if route.irreversible { try await confirm(read, signedIn, access) }
            let visit = visit(signedIn, request, context)
            let answer = try await route.handler(Submission(visit: visit, fields: read, token: token))
            return response(to: answer, visit, signedIn, request)
        } catch let problem as Problem where problem.kind == .unauthenticated {
            return signedOut(problem, next: back, request, nothingSent: true)
        } catch {
            guard let fields, let refused = Problem(shown: error) else {
                return refusal(error, request, context, sender, at: back)
            }
            return response(
                to: refused, sender, at: back,
                ResourcePage(refused, route, fields, path: request.uri.string, back: back))
        }
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
    private func confirm(_ fields: FormFields, _ signedIn: SignedIn, _ access: PageAccess) async throws {
        guard let secret = fields["currentKey"] else {
            throw Problem(
                .invalidRequest, titled: "The key is missing",
                "This cannot be undone, so enter the key again that you signed in with. Nothing was sent.")
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
            throw Problem(
                problem.kind == .rateLimited ? .rateLimited : .forbidden, titled: "The key is wrong",
                "\(problem.detail) Nothing was sent.", retryAfter: problem.retryAfter)
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
    static func foreign(_ advice: String) -> Problem {
        Problem(
            .forbidden, titled: "This form is not of this server",
            "It was not sent from a page of this server. \(advice)")
    }
}
