internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The form to sign in with.
struct SignIn: ConsolePage {
    var template: String { "sign-in" }
    let title = "Sign in"
    /// Why the last attempt failed.
    let fault: String?
    /// The page that is shown after signing in.
    let next: String

    init(returningTo target: String?, fault: String? = nil) {
        next = ConsolePath.returning(to: target)
        self.fault = fault
    }
}

/// `/console/sign-in` and `/console/sign-out`: start a session with a key, and end it.
extension PageResponder {
    /// The maximum size of the form. It is enough for a form-encoded key and a path to return to.
    private static let signInLimit = 8 * 1_024

    func addSignIn(to router: Router<APIContext>) {
        router.get(RouterPath(ConsolePath.signIn)) { request, _ in
            response(SignIn(returningTo: FormFields(request.uri.query ?? "")["next"]))
        }
        router.post(RouterPath(ConsolePath.signIn)) { request, context in try await signIn(request, context) }
        router.post(RouterPath(ConsolePath.signOut)) { request, _ in try await signOut(request) }
    }

    private func signOut(_ request: Request) async throws -> Response {
        guard FormOrigin.isOurs(request) else { throw Self.foreign("Open the console and sign in there.") }
        if let text = SessionCookie.value(SessionCookie.name, in: request) {
            if let session = SessionSecret(text) { try await requireToken(of: session, request) }
            try await sessions.end(text)
        }
        var response = redirect(to: ConsolePath.signIn)
        for name in [SessionCookie.name, SessionCookie.noticeName] {
            response.setCookie(cookie.cookie(name, "", maxAge: 0, for: request))
        }
        return response
    }

    /// Checks that the form is of this session. An expired token is accepted, so that an old page can still sign out.
    ///
    /// - Throws: `forbidden`, for a form of another session.
    private func requireToken(of session: SessionSecret, _ request: Request) async throws {
        let fields = try await FormBody.fields(of: request, upTo: Self.signInLimit)
        guard FormToken.read(fields["token"], for: session, now: now()) == .foreign else { return }
        throw Problem(
            .forbidden, titled: "This form is of another session",
            "You are still signed in. Open the console and sign out there.")
    }

    private func signIn(_ request: Request, _ context: APIContext) async throws -> Response {
        guard FormOrigin.isOurs(request) else { throw Self.foreign("Open the console and sign in there.") }
        let fields = try await FormBody.fields(of: request, upTo: Self.signInLimit)
        let next = fields["next"]
        guard let secret = fields["key"] else {
            return response(SignIn(returningTo: next, fault: "Paste a key first."), status: .unprocessableContent)
        }
        let signedIn: SignedIn
        do {
            let key = try await identify(secret, context)
            if let fault = Self.refusal(of: key) {
                return response(SignIn(returningTo: next, fault: fault), status: .forbidden)
            }
            signedIn = try await sessions.begin(key)
        } catch let problem as Problem where [.unauthenticated, .rateLimited].contains(problem.kind) {
            return response(SignIn(returningTo: next, fault: problem.detail), for: problem)
        }
        // Signing in ends the browser's previous session.
        if let text = SessionCookie.value(SessionCookie.name, in: request) { try await sessions.end(text) }
        var response = redirect(to: ConsolePath.returning(to: next))
        response.setCookie(
            cookie.cookie(
                SessionCookie.name, signedIn.session.text, maxAge: Int(Sessions.lifetime), for: request))
        return response
    }

    /// Why a valid key cannot sign in; `nil`: the key can sign in.
    private static func refusal(of key: APIKey) -> String? {
        if key.isForClientApps {
            return "The key \(key.name) is for apps. The console takes one with the scope operate, organise or admin."
        }
        return key.replacedBy == nil ? nil : "The key \(key.name) was rotated. \(Sessions.rotated)"
    }
}
