internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandService
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `/v1/events/{key}/stream`: changes of an event and its broadcasts, as server-sent events.
struct StreamRoutes: Sendable {
    let events: any EventStore
    let views: LiveViews
    let keys: any KeyStore
    let now: @Sendable () -> Date

    var routes: [Route] { [Route(.streamEvent, stream)] }

    private func stream(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try context.eventKey()
        _ = try await events.declared(key, within: context.reach, now: now())
        guard request.method != .head else { return .eventStream() }
        guard let reader = context.key else { throw Problem(.unauthenticated, "A stream needs a key.") }
        let subject = LiveSubject(key, within: context.reach)
        let view = try views.open(subject, seen: request.headers[.lastEventID], for: reader)
        // The stream checks the key again with every heartbeat, so that a revoked key gets nothing more.
        let secret = RequestAuthenticator.bearer(request.headers[.authorization]).map(String.init) ?? ""
        let isAdmitted: @Sendable () async -> Bool = { [keys, now, access = Route.Access(to: .streamEvent)] in
            do {
                guard let caller = try await keys.authenticate(secret), !caller.isExpired(at: now()) else {
                    return false
                }
                try RequestAuthenticator.check(caller, for: access)
                return true
            } catch let problem as Problem where problem.kind == .storeUnavailable {
                return true
            } catch {
                return false
            }
        }
        return .eventStream(
            ResponseBody { writer in
                try await request.body.consumeWithInboundCloseHandler { [writer] _ in
                    try await EventStreamWriter().write(view.updates, to: writer, while: isAdmitted)
                } onInboundClosed: {
                    view.close()
                }
                try await writer.finish(nil)
            })
    }
}

extension Response {
    /// A response with server-sent events. For `HEAD` it has no body, because `HEAD` opens no stream.
    static func eventStream(_ body: ResponseBody = .init()) -> Response {
        // Proxies must neither store the stream nor buffer it.
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"], body: body)
    }
}

/// The timeouts of streams.
package struct StreamSettings: Sendable {
    /// How long a reader may take no bytes before its connection is cut.
    package var stallTimeout: Duration = .seconds(20)
    /// Milliseconds a client waits before it opens the stream again.
    package var retry = 2_000

    package init() {}
}

extension HTTPField.Name {
    // The force-unwraps are safe: the literals are valid field names (RFC 9110).
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
