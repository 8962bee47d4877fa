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
        (next, self.fault) = (ConsolePath.safeReturn(to: target), fault)
    }
}

/// `/console/sign-in` and `/console/sign-out`: start a session with a key, and end it.
extension PageResponder {
    /// The maximum size of the form. It is enough for a form-encoded key and a path to return to.
    private static let maxSignInBytes = 8 * 1_024

    func addSignIn(to router: Router<APIContext>) {
        router.get(RouterPath(ConsolePath.signIn)) { request, _ in
            response(SignIn(returningTo: FormFields(request.uri.query ?? "")["next"]))
        }
        router.post(RouterPath(ConsolePath.signIn)) { request, context in try await signIn(request, context) }
        router.post(RouterPath(ConsolePath.signOut)) { request, _ in try await signOut(request) }
    }

    private func signOut(_ request: Request) async throws -> Response {
        try request.checkOrigin()
        let token = try await FormFields(of: request, upTo: Self.maxSignInBytes)["token"]
        if let session = request.session {
            guard session.formID(token) != nil else { throw Self.otherSession }
            try await api.endSession(session)
        }
        return withCookie("", of: request, in: redirect(to: ConsolePath.signIn))
    }

    private func signIn(_ request: Request, _ context: APIContext) async throws -> Response {
        try request.checkOrigin()
        let fields = try await FormFields(of: request, upTo: Self.maxSignInBytes)
        let next = fields["next"]
        do {
            let key = try await api.authenticate(fields["key"] ?? "", context, for: [])
            guard !key.isForClientApps, key.replacedBy == nil else {
                let fault =
                    "The key \(key.name) is for apps, or was rotated. Take one with the scope operate, organise or admin."
                return response(SignIn(returningTo: next, fault: fault), status: 403)
            }
            let session = try await api.beginSession(key)
            // Signing in ends the browser's previous session.
            if let previous = request.session { try await api.endSession(previous) }
            return withCookie(session.text, of: request, in: redirect(to: ConsolePath.safeReturn(to: next)))
        } catch let problem as Problem where [.unauthenticated, .rateLimited].contains(problem.kind) {
            return response(SignIn(returningTo: next, fault: problem.detail), for: problem)
        }
    }
}
