internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// The memory that all request bodies together may take, from their first byte until the answer. It bounds the bytes of
/// requests that wait, however many requests there are.
///
/// One caller gets at most half of the memory, so a caller that sends much or slowly leaves room for others. A quarter is
/// left for small bodies, so batches that wait do not lock other requests out.
final class BodyRoom: Sendable {
    /// It counts received bytes. Parsed JSON takes several times as much memory until the answer.
    private static let limit = 32 << 20

    private let taken = Mutex((all: 0, callers: [UUID?: Int]()))

    /// Takes room, or gives it back.
    ///
    /// - Returns: whether there was room. If not, nothing is taken.
    func take(_ bytes: Int, for caller: UUID?, isLarge: Bool = false) -> Bool {
        taken.withLock { taken in
            let (all, own) = (taken.all + bytes, taken.callers[caller, default: 0] + bytes)
            let most = isLarge ? Self.limit * 3 / 4 : Self.limit
            guard bytes <= 0 || all <= most && own <= Self.limit / 2 else { return false }
            taken.all = all
            taken.callers[caller] = own == 0 ? nil : own
            return true
        }
    }
}

/// What one request takes of the server: its share of the room for bodies, and of its key's rate.
final class RequestShare: Sendable {
    private struct State {
        var caller: UUID?
        var rate: RateLimit.Standing?
        var heldBytes = 0
        var clientLeft: Bool?
    }

    /// The share of the task's request.
    @TaskLocal static var current: RequestShare?

    private let room: BodyRoom
    private let state = Mutex(State())

    init(_ room: BodyRoom) { self.room = room }

    /// Sets the caller and its rate limit, as soon as they are known and before the body is read.
    func assign(to caller: UUID, _ rate: RateLimit.Standing?) {
        state.withLock { state in
            // Room that was taken before is given back under the same name.
            if state.heldBytes == 0 { state.caller = caller }
            state.rate = rate
        }
    }

    /// The rate limit of the request's key.
    var rate: RateLimit.Standing? { state.withLock { $0.rate } }

    /// Whether the connection ended before the body; `false`: the body is broken; `nil`: it is complete, or was not read.
    var clientLeft: Bool? { state.withLock { $0.clientLeft } }

    /// Notes that the body is incomplete because of the client. Its other errors are the server's.
    fileprivate func failBody(_ error: any Error) -> Problem {
        let isGone = [nil, .invalidEOFState, .closedConnection].contains(error as? HTTPParserError)
        let why = isGone ? "the connection ended before it did" : "\(error)"
        state.withLock { $0.clientLeft = isGone }
        return Problem(.malformedJson, "The body cannot be read: \(why).")
    }

    /// Takes room for the bytes that were received, and for all of a large body. A small one takes room only when its bytes
    /// arrive, so that phones that send slowly take none.
    ///
    /// - Throws: `rate-limited` with status 503 if there is no room.
    fileprivate func reserve(_ received: Int, of announced: Int) throws(Problem) {
        let hasRoom = state.withLock { state in
            let isLarge = max(received, announced) > Route.standardBodyLimit
            let wanted = max(state.heldBytes, received, isLarge ? announced : 0)
            guard room.take(wanted - state.heldBytes, for: state.caller, isLarge: isLarge) else { return false }
            state.heldBytes = wanted
            return true
        }
        guard !hasRoom else { return }
        var problem = Problem(
            .rateLimited,
            "The server has no memory left for another request's body. Send it again in a second.",
            retryAfter: 1)
        problem.status = 503
        throw problem
    }

    /// Frees the room after the answer.
    func release() {
        state.withLock { state in
            _ = room.take(-state.heldBytes, for: state.caller)
            state.heldBytes = 0
        }
    }
}

extension Request {
    /// The body's bytes. They take room in `BodyRoom` until the request is answered.
    ///
    /// - Throws: `unsupported-media-type` for a body with a `Content-Encoding`; `body-too-large`, before the whole body
    ///   is read; `malformed-json` for one that the client broke off; `rate-limited` if there is no room.
    func bytes(upTo limit: Int) async throws -> [UInt8] {
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" {
            throw Problem(
                .unsupportedMediaType,
                "Send the body as it is, without the header Content-Encoding (\(encoding.quotedJSON)).")
        }
        let length = headers[.contentLength].flatMap { Int($0) } ?? 0
        if length > limit { throw Self.tooLarge(limit) }
        // Without the middleware, only the room of this body is bounded.
        let share = RequestShare.current ?? RequestShare(BodyRoom())
        // Reserve the whole length first. Otherwise many bodies could be read in part and then find no room.
        try share.reserve(0, of: length)
        var bytes: [UInt8] = []
        do {
            for try await buffer in body {
                guard bytes.count + buffer.readableBytes <= limit else { throw Self.tooLarge(limit) }
                bytes += buffer.readableBytesView
                try share.reserve(bytes.count, of: length)
            }
        } catch  where !(error is Problem) {
            throw share.failBody(error)
        }
        return bytes
    }

    private static func tooLarge(_ limit: Int) -> Problem {
        Problem(.bodyTooLarge, "The body may have \(limit) bytes at most.") { $0.limit = limit }
    }
}

/// The rate limits of this process. By key, it counts requests other than lookups and requests about installations. By
/// address, it counts failed authentications and new installations. By installation and address, it counts wrong
/// secrets.
final class RateLimits: Sendable {
    private let keys: Buckets<UUID>
    /// The limit of a key that ships in apps, for requests other than lookups and installations. This limit is low,
    /// because strangers have such keys, and these requests query the database.
    private let clientApps = Buckets<UUID>(rate: 10, burst: 20)
    /// Failed authentications.
    let authFailures: Buckets<String>
    /// The limit of wrong secrets for one installation from one address: ten at once, and after these one every ten
    /// seconds. The owner's app is not affected, because it sends the right secret.
    private let wrongSecrets = Buckets<String>(rate: 0.1, burst: 10)
    private let newInstallations: Buckets<String>

    /// 0 means no limit.
    ///
    /// - Parameters:
    ///   - requests: of one key per second. A burst may have twice as many.
    ///   - failures: failed authentications of one address per minute.
    ///   - installations: new installations of one address per minute.
    init(requests: Double = 0, failures: Double = 0, installations: Double = 0) {
        keys = Buckets(rate: requests, burst: 2 * requests)
        authFailures = Buckets(rate: failures / 60, burst: failures)
        newInstallations = Buckets(rate: installations / 60, burst: installations)
    }

    /// Counts a request of a key. Returns `nil` if there is no limit. Lookups and requests about installations have none,
    /// because millions of phones share one key.
    ///
    /// - Parameter scopes: of the operation (`Route.scopes`).
    func take(_ key: APIKey, for scopes: [Contract.Scope], at now: Date) -> RateLimit.Standing? {
        let free = [Contract.Operation.lookup.scopes, Contract.Operation.putInstallation.scopes]
        if free.contains(scopes) { return nil }
        return (key.isForClientApps && scopes.isEmpty ? clientApps : keys).take(key.id, at: now)
    }

    /// Counts a wrong secret, for the pair of installation and address, and for the address.
    ///
    /// - Returns: the limit that is exceeded; `nil`: none.
    func countWrongSecret(of installation: UUID, from address: String, at now: Date) -> RateLimit.Standing? {
        let pair = wrongSecrets.take("\(installation) \(address)", at: now)
        let standing = pair?.isRefused == true ? pair : authFailures.take(address, at: now)
        return standing.flatMap { $0.isRefused ? $0 : nil }
    }

    /// The limit of an address with too many new installations; `nil`: another installation may register.
    ///
    /// Only public addresses are limited, and unknown ones. Other addresses belong to a proxy or a private network, and
    /// all phones may be behind one proxy.
    ///
    /// - Parameters:
    ///   - address: in the form of `APIContext.callerNetwork`.
    ///   - count: 1: an installation was registered; 0: one may follow.
    func newInstallation(from address: String, at now: Date, _ count: Double) -> RateLimit.Standing? {
        let known = IPAddress(address.contains(":") ? address + "::" : address)
        guard known.map(NetworkGuard().allows) ?? true else { return nil }
        return newInstallations.take(address, at: now, count).flatMap { $0.isRefused ? $0 : nil }
    }
}

/// Token buckets with one policy, by name.
final class Buckets<Name: Hashable & Sendable>: Sendable {
    /// The maximum number of buckets. When a new bucket would exceed this number, full buckets are removed, as if nothing
    /// had been taken; without a full one all are, so that the memory stays bounded.
    private static var maxBuckets: Int { 20_000 }

    private let policy: RateLimit.Policy?
    private let buckets = Mutex<[Name: RateLimit]>([:])

    /// - Parameter rate: 0: there is no limit.
    init(rate: Double, burst: Double) { policy = rate > 0 ? .init(rate: rate, burst: burst) : nil }

    /// - Parameter count: 0: only the state is asked for.
    func take(_ name: Name, at now: Date, _ count: Double = 1) -> RateLimit.Standing? {
        guard let policy else { return nil }
        return buckets.withLock { buckets in
            if buckets[name] == nil, buckets.count >= Self.maxBuckets {
                buckets = buckets.filter { _, bucket in
                    var bucket = bucket
                    let standing = bucket.take(policy, at: now, 0)
                    return standing.remaining < standing.limit
                }
                if buckets.count >= Self.maxBuckets { buckets.removeAll() }
            }
            return buckets[name, default: RateLimit(policy, at: now)].take(policy, at: now, count)
        }
    }
}
