internal import Grandstand
internal import Hummingbird
internal import Logging
internal import NIOCore

/// The state of one request on its way through the API.
struct APIContext: RequestContext, Sendable {
    var coreContext: CoreRequestContextStorage
    /// Identifies the request in logs and problems: the caller's own ID, or one that the server made.
    var requestID: String
    /// The key of the caller; `nil` on routes without authentication.
    var key: APIKey?
    /// The query's parameters. Parameters that the route does not know are refused.
    var query = QueryParameters()
    /// The connection the request came on.
    let channel: any NIOCore.Channel
    /// The key's rate limit after this request, shared with the middleware that writes the headers.
    let rate = RateBox()
    /// The request's share of the memory for bodies. The middleware sets it.
    var body: BodyShare?
    /// The peer's address; `nil`: the connection was already closed.
    let peer: IPAddress?
    /// The address of the client, behind trusted proxies. The middleware sets it.
    var callerAddress: IPAddress?

    init(source: Source) {
        coreContext = .init(source: source)
        requestID = RequestNames.next()
        key = nil
        channel = source.channel
        peer = source.channel.remoteAddress?.ipAddress.flatMap { IPAddress(String($0.prefix { $0 != "%" })) }
        callerAddress = peer?.unmapped
    }

    /// The caller's address for rate limits: an IPv4 address, or the /64 network of an IPv6 address, because one client
    /// has all addresses of its network. Empty if the address is not known.
    var address: String { callerAddress?.callersNetwork ?? "" }

    /// A logger that adds the request's ID to every line.
    var log: Logger {
        var log = logger
        log[metadataKey: "request-id"] = "\(requestID)"
        return log
    }

    /// The actor of this request in the audit log.
    var actor: AuditActor { key.map(AuditActor.init) ?? .server }

    /// Bodies larger than this are refused unless a route allows more.
    var maxUploadSize: Int { Route.standardBodyLimit }
}
