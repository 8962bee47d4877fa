internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Synchronization

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
    /// What the request takes of the server. The middleware sets it.
    var share: RequestShare?
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
    var actor: AuditActor { key?.actor ?? .server }
}

extension APIContext {
    /// The key of the caller of a route that needs one. `API.admit` rejects requests without a key.
    var caller: APIKey {
        get throws(Problem) {
            guard let key else { throw Problem(.unauthenticated, "This operation needs a key.") }
            return key
        }
    }
}

extension Visit {
    /// The key, for an operation that a console page performs.
    ///
    /// - Throws: `forbidden` if the key does not have the operation's scope.
    func caller(of operation: Contract.Operation) throws(Problem) -> APIKey {
        try API.check(key, for: operation.scopes)
        return key
    }
}

/// IDs for requests whose callers sent none. They are unique within a process, and each process starts at a random
/// number.
///
/// The IDs need not be hard to guess. The system's random generator is not used for each, because each call of the
/// generator is a system call.
enum RequestNames {
    private static let count = Atomic<UInt64>(.random(in: .min ... .max))

    /// Up to 16 hexadecimal digits.
    static func next() -> String { String(count.wrappingAdd(1, ordering: .relaxed).oldValue, radix: 16) }
}
