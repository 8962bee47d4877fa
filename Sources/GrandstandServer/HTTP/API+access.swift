internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Synchronization

/// Authenticates and authorises requests. It is the only place that checks keys, scopes and the app in a path.
extension API {
    /// - Returns: the key; `nil` on open routes.
    /// - Throws: `unauthenticated`, `forbidden`, `rate-limited`.
    func admit(_ request: Request, _ context: APIContext, _ route: Route) async throws -> APIKey? {
        guard let scopes = route.scopes else { return nil }
        guard let secret = Self.bearer(request.headers[.authorization]) else {
            throw countFailure("Send your key as Authorization: Bearer <secret>.", context)
        }
        let key = try await authenticate(String(secret), context, for: scopes)
        try Self.check(key, for: scopes)
        try Self.checkApp(key, context, route)
        return key
    }

    /// Checks that the key reaches the app in the path.
    ///
    /// - Throws: `forbidden`.
    static func checkApp(_ key: APIKey, _ context: APIContext, _ route: Route) throws(Problem) {
        guard let bundleID = BundleID(rawValue: context.text("bundleId")) else { return }
        // A key with an event-key prefix may not change the app itself, because a change of the app affects all
        // events.
        let isOfEvents = key.reach.eventKeyPrefix != nil && route.method != .get
        guard key.reach.covers(bundleID), !isOfEvents else { throw key.reach.refusal }
    }

    /// Returns the key with this secret and counts the request against the key's limit. The API and the console's
    /// sign-in both use this function.
    ///
    /// - Throws: `unauthenticated`, which counts as a failure of the caller's address; `rate-limited`.
    func authenticate(
        _ secret: String, _ context: APIContext, for scopes: [Contract.Scope]
    ) async throws -> APIKey {
        guard let key = try await keys.authenticate(secret), !key.isExpired(at: now()) else {
            throw countFailure("This key is not known, has expired, or was revoked.", context)
        }
        try countRequest(key, context, for: scopes)
        return key
    }

    /// Counts a request of an authenticated key, and notes that the key was used.
    ///
    /// - Throws: `rate-limited`.
    func countRequest(_ key: APIKey, _ context: APIContext, for scopes: [Contract.Scope]) throws(Problem) {
        if !key.isForClientApps { onTrust(context.channel) }
        let standing = limits.take(key, for: scopes, at: now())
        RequestShare.current?.assign(to: key.id, standing)
        if let standing, standing.isRefused {
            throw Problem.tooMany("requests of the key \(key.name)", wait: standing.reset)
        }
        keys.noteUse(key)
    }

    /// Checks the key's scopes.
    ///
    /// - Throws: `forbidden`.
    static func check(_ key: APIKey, for scopes: [Contract.Scope]?) throws(Problem) {
        guard let scopes else { return }
        if scopes.isEmpty, key.isOfDevices {
            throw Problem(.forbidden, "The key \(key.name) is for installations and lookups only.")
        }
        if !scopes.isEmpty, !scopes.contains(where: key.holds) {
            let words = scopes.map(\.rawValue).sorted().joined(separator: " or ")
            throw Problem(.forbidden, "The key \(key.name) does not hold the scope \(words).")
        }
    }

    /// Counts a failed authentication against the caller's address. Returns a problem with `detail`, or `rate-limited`
    /// after too many failures.
    func countFailure(_ detail: String, _ context: APIContext) -> Problem {
        guard let standing = limits.authFailures.take(context.callerNetwork, at: now()), standing.isRefused else {
            return Problem(.unauthenticated, detail)
        }
        return .tooMany("requests without a valid key from this address", wait: standing.reset)
    }

    /// The token of `Bearer <token>` (RFC 6750). The scheme's case does not matter.
    static func bearer(_ header: String?) -> Substring? {
        let words = (header ?? "").utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard words.count == 2, Substring(words[0]).lowercased() == "bearer" else { return nil }
        return Substring(words[1])
    }
}

extension APIContext: PathReading {
    /// The apps and events that this request may access. Every route that uses this property requires a key, so the key
    /// is always present.
    var reach: AppReach { key?.reach ?? .only([]) }
}

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
    /// The peer's address; `nil`: the connection was already closed.
    let peer: IPAddress?
    /// The address of the client, behind trusted proxies. The middleware sets it.
    var callerAddress: IPAddress?

    init(source: Source) {
        coreContext = .init(source: source)
        requestID = RequestIDs.next()
        key = nil
        channel = source.channel
        peer = source.channel.remoteAddress?.ipAddress.flatMap { IPAddress(String($0.prefix { $0 != "%" })) }
        callerAddress = peer?.unmapped
    }

    /// The caller's address for rate limits: an IPv4 address, or the /64 network of an IPv6 address, because one client
    /// has all addresses of its network. Empty if the address is not known.
    var callerNetwork: String { callerAddress?.callersNetwork ?? "" }

    /// A logger that adds the request's ID to every line.
    var log: Logger {
        var log = logger
        log[metadataKey: "request-id"] = "\(requestID)"
        return log
    }

    /// The actor of this request in the audit log.
    var actor: AuditActor { key?.actor ?? .server }

    /// Whether the key ships in client apps, where strangers can read it. `true` if there is no key.
    var isOfClientApp: Bool { key?.isForClientApps ?? true }

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
enum RequestIDs {
    private static let nextID = Atomic<UInt64>(.random(in: .min ... .max))

    /// Up to 16 hexadecimal digits.
    static func next() -> String { String(nextID.wrappingAdd(1, ordering: .relaxed).oldValue, radix: 16) }
}
