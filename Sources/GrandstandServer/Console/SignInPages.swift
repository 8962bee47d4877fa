internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `/console/sign-in` and `/console/sign-out`: start a session with a key, and end it.
struct SignInPages: Sendable {
    let responder: PageResponder

    /// The maximum size of the form. It is enough for a form-encoded key and a path to return to.
    private static let maximumBytes = 8 * 1_024

    func add(to router: Router<ConsoleContext>) {
        router.get(RouterPath(ConsolePath.signIn)) { [responder] request, _ in
            responder.signIn(SignIn(returningTo: FormFields(request.uri.query ?? "")["next"]))
        }
        router.post(RouterPath(ConsolePath.signIn)) { request, context in try await signIn(request, context) }
        router.post(RouterPath(ConsolePath.signOut)) { request, _ in try await signOut(request) }
    }

    private func signOut(_ request: Request) async throws -> Response {
        guard FormOrigin.isOurs(request) else { throw Self.foreign }
        if let text = SessionCookie.value(SessionCookie.name, in: request) {
            if let session = SessionSecret(text) { try await requireToken(of: session, request) }
            try await responder.sessions.end(text)
        }
        var response = responder.redirect(to: ConsolePath.signIn)
        for name in [SessionCookie.name, SessionCookie.noticeName] {
            response.setCookie(responder.cookie.cookie(name, "", maxAge: 0, for: request))
        }
        return response
    }

    /// Checks that the form is of this session. An expired token is accepted, so that an old page can still sign out.
    ///
    /// - Throws: `forbidden`, for a form of another session.
    private func requireToken(of session: SessionSecret, _ request: Request) async throws {
        let fields = try await FormBody.fields(of: request, upTo: Self.maximumBytes)
        guard FormToken.read(fields["token"], for: session, now: responder.now()) == .foreign else { return }
        throw Problem(
            .forbidden, titled: "This form is of another session",
            "You are still signed in. Open the console and sign out there.")
    }

    private func signIn(_ request: Request, _ context: ConsoleContext) async throws -> Response {
        guard FormOrigin.isOurs(request) else { throw Self.foreign }
        let fields = try await FormBody.fields(of: request, upTo: Self.maximumBytes)
        let next = fields["next"]
        guard let secret = fields["key"] else {
            return responder.signIn(
                SignIn(returningTo: next, fault: "Paste a key first."), status: .unprocessableContent)
        }
        let signedIn: SignedIn
        do {
            let key = try await context.access.identify(secret)
            if let fault = Self.refusal(of: key) {
                return responder.signIn(SignIn(returningTo: next, fault: fault), status: .forbidden)
            }
            signedIn = try await responder.sessions.begin(key)
        } catch let problem as Problem where [.unauthenticated, .rateLimited].contains(problem.kind) {
            return responder.signIn(
                SignIn(returningTo: next, fault: problem.detail), status: .init(code: problem.status),
                retryAfter: problem.retryAfter)
        }
        // Signing in ends the browser's previous session.
        if let text = SessionCookie.value(SessionCookie.name, in: request) { try await responder.sessions.end(text) }
        var response = responder.redirect(to: ConsolePath.returning(to: next))
        response.setCookie(
            responder.cookie.cookie(
                SessionCookie.name, signedIn.session.text, maxAge: Int(ConsoleSession.lifetime), for: request))
        return response
    }

    /// Why a valid key cannot sign in; `nil`: the key can sign in.
    private static func refusal(of key: APIKey) -> String? {
        if key.isForClientApps {
            return "The key \(key.name) is for apps. The console takes one with the scope operate, organise or admin."
        }
        return key.replacedBy == nil ? nil : "The key \(key.name) was rotated. \(Sessions.rotated)"
    }

    private static let foreign = PageResponder.foreign("Open the console and sign in there.")
}
