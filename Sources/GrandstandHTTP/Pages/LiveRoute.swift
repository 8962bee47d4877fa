internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// `/console/live?event={key}`: the stream that tells a page's script when to fetch the page again. The stream needs a
/// session, like the pages, and ends with the session.
struct LiveRoute: Sendable {
    let responder: PageResponder
    let events: any EventStore
    let watch: Console.Watch

    func add(to router: Router<ConsoleContext>) {
        router.get(RouterPath(ConsolePath.live)) { request, context in try await open(request, context) }
    }

    private func open(_ request: Request, _ context: ConsoleContext) async throws -> Response {
        let text = SessionCookie.value(SessionCookie.name, in: request) ?? ""
        let sessions = responder.sessions
        let signedIn = try await sessions.signedIn(text, extendsSession: false)
        try context.source.access.countRequest(signedIn.key)
        try PageResponder.check(signedIn.key, for: .organise)
        let query = FormFields(request.uri.query ?? "")
        guard let key = try query.read("event", EventKey.rule, EventKey.init) else {
            throw Problem(.invalidRequest, "Name the event: ?event={key}.")
        }
        _ = try await events.declared(key, within: signedIn.key.reach, now: responder.now())
        return try watch(request, LiveSubject(key, within: signedIn.key.reach), signedIn.key) {
            do {
                try PageResponder.check(try await sessions.signedIn(text, extendsSession: false).key, for: .organise)
                return true
            } catch let problem as Problem where problem.kind == .storeUnavailable {
                return true
            } catch {
                return false
            }
        }
    }
}
