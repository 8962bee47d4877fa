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
    /// The peer while the connection was open.
    private let peer: SocketAddress?

    package init(source: Source) {
        coreContext = .init(source: source)
        requestID = RequestNames.next()
        key = nil
        channel = source.channel
        peer = source.channel.remoteAddress
    }

    /// Where the request came from, as failures to authenticate are counted: an IPv4 address, or an IPv6 network of 64
    /// bits, for a client with one of those addresses has all of them.
    package var address: String { Self.network(of: peer) }

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

    private static func network(of address: SocketAddress?) -> String {
        guard let text = address?.ipAddress else { return "" }
        // Also an IPv4 address mapped into IPv6 (RFC 4291, 2.5.5.2).
        if text.contains(".") { return text.split(separator: ":").last.map(String.init) ?? text }
        let halves = text.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.split(separator: ":") }
        guard let first = halves.first else { return text }
        let missing = halves.count > 1 ? 8 - first.count - halves[1].count : 0
        let groups = first + Array(repeating: "0", count: max(0, missing)) + (halves.count > 1 ? halves[1] : [])
        return groups.prefix(4).joined(separator: ":")
    }
}
