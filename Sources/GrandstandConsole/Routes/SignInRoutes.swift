internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `/console/sign-in` and `/console/sign-out`: the only forms there are.
struct SignInRoutes: Sendable {
    let responder: PageResponder

    /// A key, a path to return to, and what encoding makes of them.
    private static let maximumBytes = 8 * 1_024

    func add(to router: Router<ConsoleContext>) {
        router.get(RouterPath(ConsolePath.signIn)) { [responder] request, _ in
            responder.signIn(SignIn(returningTo: FormFields(request.uri.query ?? "")["next"]))
        }
        router.post(RouterPath(ConsolePath.signIn)) { request, context in try await signIn(request, context) }
        router.post(RouterPath(ConsolePath.signOut)) { [responder] request, _ in
            guard FormOrigin.isOurs(request) else { throw Self.foreign }
            var response = responder.redirect(to: ConsolePath.signIn)
            response.setCookie(responder.cookie.closed(for: request))
            return response
        }
    }

    private func signIn(_ request: Request, _ context: ConsoleContext) async throws -> Response {
        guard FormOrigin.isOurs(request) else { throw Self.foreign }
        let fields = try await Self.fields(of: request)
        let next = fields["next"]
        guard let secret = fields["key"] else {
            return responder.signIn(
                SignIn(returningTo: next, fault: "Paste a key first."), status: .unprocessableContent)
        }
        do {
            _ = try await context.source.identify(secret)
        } catch let problem as Problem where [.unauthenticated, .rateLimited].contains(problem.kind) {
            return responder.signIn(
                SignIn(returningTo: next, fault: problem.detail), status: responder.status(problem.kind),
                retryAfter: problem.retryAfter)
        }
        var response = responder.redirect(to: ConsolePath.returning(to: next))
        response.setCookie(responder.cookie.opened(secret, for: request))
        return response
    }

    private static func fields(of request: Request) async throws -> FormFields {
        guard request.headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true else {
            throw Problem(.unsupportedMediaType, "This takes the form of the sign-in page only.")
        }
        var bytes: [UInt8] = []
        for try await buffer in request.body {
            guard bytes.count + buffer.readableBytes <= maximumBytes else {
                throw Problem(.bodyTooLarge, "The form may have \(maximumBytes) bytes at most; a key has some dozen.")
            }
            bytes += buffer.readableBytesView
        }
        return FormFields(String(decoding: bytes, as: UTF8.self))
    }

    private static let foreign = Problem(
        .forbidden, "This form was not sent from a page of this server. Open the console and sign in there.")
}
