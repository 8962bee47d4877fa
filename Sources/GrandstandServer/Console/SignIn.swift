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
        try FormOrigin.check(request)
        if let text = SessionCookie.value(in: request) {
            let token = try await FormFields(of: request, upTo: Self.signInLimit)["token"]
            if let session = SessionSecret(text), FormToken(token, of: session) == nil {
                throw Problem(
                    .forbidden, titled: "This form is of another session",
                    "You are still signed in. Open the console and sign out there.")
            }
            try await sessions.end(text)
        }
        var response = redirect(to: ConsolePath.signIn)
        response.setCookie(cookie.cookie("", maxAge: 0, for: request))
        return response
    }

    private func signIn(_ request: Request, _ context: APIContext) async throws -> Response {
        try FormOrigin.check(request)
        let fields = try await FormFields(of: request, upTo: Self.signInLimit)
        let next = fields["next"]
        guard let secret = fields["key"] else {
            return response(SignIn(returningTo: next, fault: "Paste a key first."), status: .unprocessableContent)
        }
        do {
            let key = try await api.identify(secret, context, for: [])
            if let fault = Self.refusal(of: key) {
                return response(SignIn(returningTo: next, fault: fault), status: .forbidden)
            }
            let session = try await sessions.begin(key)
            // Signing in ends the browser's previous session.
            if let text = SessionCookie.value(in: request) { try await sessions.end(text) }
            var response = redirect(to: ConsolePath.returning(to: next))
            response.setCookie(cookie.cookie(session.text, maxAge: Int(Sessions.lifetime), for: request))
            return response
        } catch let problem as Problem where [.unauthenticated, .rateLimited].contains(problem.kind) {
            return response(SignIn(returningTo: next, fault: problem.detail), for: problem)
        }
    }

    /// Why a valid key cannot sign in; `nil`: the key can sign in.
    private static func refusal(of key: APIKey) -> String? {
        if key.isForClientApps {
            return "The key \(key.name) is for apps. The console takes one with the scope operate, organise or admin."
        }
        return key.replacedBy == nil ? nil : "The key \(key.name) was rotated. \(Sessions.rotated)"
    }
}
