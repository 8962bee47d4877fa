package import Grandstand
package import Hummingbird
package import Logging
package import NIOCore

/// What a request carries through the API.
package struct APIContext: RequestContext, Sendable {
    package var coreContext: CoreRequestContextStorage
    /// Names the request in logs and problems: the caller's own name for it, or one we made.
    package var requestID: String
    /// Whose key it was; `nil` on routes without authentication.
    package var key: APIKey?
    /// The query's parameters, those that the route knows and no others.
    var query = QueryParameters()
    /// The connection the request came on.
    package let channel: any NIOCore.Channel
    /// How the key stands to its limit; shared with the middleware that writes the headers.
    let rate = RateBox()
    /// What its body has of the room for bodies; given by the middleware.
    var body: BodyShare?
    /// The peer while the connection was open; `nil`: it was closed already.
    let peer: IPAddress?
    /// Who called, through whatever proxies; the middleware finds it out.
    package internal(set) var callerAddress: IPAddress?

    package init(source: Source) {
        coreContext = .init(source: source)
        requestID = RequestNames.next()
        key = nil
        channel = source.channel
        peer = source.channel.remoteAddress?.ipAddress.flatMap { IPAddress(String($0.prefix { $0 != "%" })) }
        callerAddress = peer?.unmapped
    }

    /// The caller's address, as all limits by address count: an IPv4 address, or an IPv6 network of 64 bits, for a client
    /// with one of those addresses has all of them. Empty where it is not known.
    package var address: String { callerAddress?.callersNetwork ?? "" }

    /// Logs lines that name the request.
    package var log: Logger {
        var log = logger
        log[metadataKey: "request-id"] = "\(requestID)"
        return log
    }

    /// The actor in the audit log for what this request does.
    var actor: AuditActor { key.map(AuditActor.init) ?? .server }

    /// Bodies larger than this are refused unless a route allows more.
    package var maxUploadSize: Int { Route.standardBodyLimit }
}
