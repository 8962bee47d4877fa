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
/// One caller gets at most half of the memory, so a caller that sends much or slowly leaves room for others.
final class BodyRoom: Sendable {
    /// The maximum of each part. It counts received bytes. Parsed JSON takes several times as much memory until the
    /// answer.
    private static let limit = 32 << 20

    /// The bytes in use, in two parts: the first `Route.standardBodyLimit` bytes of each body, and those after them.
    private let taken = Mutex((all: SIMD2<Int>(), callers: [UUID?: SIMD2<Int>]()))

    /// Takes room in both parts, or gives it back.
    ///
    /// - Returns: whether there was room. If not, nothing is taken.
    func take(_ bytes: SIMD2<Int>, for caller: UUID?) -> Bool {
        taken.withLock { taken in
            let (all, own) = (taken.all &+ bytes, taken.callers[caller, default: SIMD2()] &+ bytes)
            guard all.max() <= Self.limit, own.max() <= Self.limit / 2 else { return false }
            taken.all = all
            taken.callers[caller] = own == SIMD2() ? nil : own
            return true
        }
    }
}

/// What one request takes of the server: its share of the room for bodies, and of its key's rate.
final class RequestShare: Sendable {
    private struct State {
        var caller: UUID?
        var rate: RateLimit.Standing?
        var taken = SIMD2<Int>()
        var fault: (problem: Problem, isGone: Bool)?
    }

    /// The share of the task's request.
    @TaskLocal static var current: RequestShare?

    private let room: BodyRoom
    private let state = Mutex(State())

    init(_ room: BodyRoom) { self.room = room }

    /// Sets the caller and its rate limit, as soon as they are known and before the body is read.
    func belongs(to caller: UUID, _ rate: RateLimit.Standing?) {
        state.withLock { ($0.caller, $0.rate) = (caller, rate) }
    }

    /// The rate limit of the request's key.
    var rate: RateLimit.Standing? { state.withLock { $0.rate } }

    /// Why the body is incomplete, and whether the connection ended; `nil`: it is complete, or was not read.
    var fault: (problem: Problem, isGone: Bool)? { state.withLock { $0.fault } }

    /// Notes that the body is incomplete because of the client. Its other errors are the server's.
    fileprivate func broke(_ error: any Error) -> Problem {
        let fault: String? =
            switch error as? HTTPParserError {
            case nil, .invalidEOFState, .closedConnection: nil
            case .headerOverflow: "its trailers are too long"
            case .invalidChunkSize, .invalidContentLength:
                "the size of a chunk is no hexadecimal number, or too large"
            case let error?: "\(error)"
            }
        let problem = Problem(
            .malformedJson, "The body cannot be read: \(fault ?? "the connection ended before it did").")
        state.withLock { $0.fault = (problem, fault == nil) }
        return problem
    }

    /// Takes room for the bytes that were received, and for all that are announced. The first bytes of a body take room
    /// only when they arrive.
    ///
    /// - Throws: `rate-limited` with status 503 if there is no room.
    fileprivate func receive(_ received: Int, of announced: Int) throws(Problem) {
        let hasRoom = state.withLock { state in
            let limit = Route.standardBodyLimit
            let wanted = pointwiseMax(
                state.taken, SIMD2(min(received, limit), max(0, max(announced, received) - limit)))
            guard room.take(wanted &- state.taken, for: state.caller) else { return false }
            state.taken = wanted
            return true
        }
        guard !hasRoom else { return }
        var problem = Problem(
            .rateLimited,
            "The server has no memory left for the body of another request. Send the request again in a second.",
            retryAfter: 1)
        problem.status = 503
        throw problem
    }

    /// Frees the room after the answer.
    func leave() {
        state.withLock { state in
            _ = room.take(SIMD2() &- state.taken, for: state.caller)
            state.taken = SIMD2()
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
        try share.receive(0, of: length)
        var bytes: [UInt8] = []
        do {
            for try await buffer in body {
                guard bytes.count + buffer.readableBytes <= limit else { throw Self.tooLarge(limit) }
                bytes += buffer.readableBytesView
                try share.receive(bytes.count, of: length)
            }
        } catch  where !(error is Problem) {
            throw share.broke(error)
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
    private struct Guess: Hashable {
        let installation: UUID
        let address: String
    }

    private let keys: Buckets<UUID>
    /// The limit of a key that ships in apps, for requests other than lookups and installations. This limit is low,
    /// because strangers have such keys, and these requests query the database.
    private let clientApps = Buckets<UUID>(RateLimit.Policy(rate: 10, burst: 20))
    private let addresses: Buckets<String>
    /// The limit of wrong secrets for one installation from one address: ten at once, and after these one every ten
    /// seconds. The owner's app is not affected, because it sends the right secret.
    private let wrongSecrets = Buckets<Guess>(RateLimit.Policy(rate: 0.1, burst: 10))
    private let newInstallations: Buckets<String>

    /// 0 means no limit.
    ///
    /// - Parameters:
    ///   - requests: of one key per second. A burst may have twice as many.
    ///   - failures: failed authentications of one address per minute.
    ///   - installations: new installations of one address per minute.
    init(requests: Double = 0, failures: Double = 0, installations: Double = 0) {
        func policy(_ rate: Double, _ burst: Double) -> RateLimit.Policy? {
            rate > 0 ? RateLimit.Policy(rate: rate, burst: burst) : nil
        }
        keys = Buckets(policy(requests, 2 * requests))
        addresses = Buckets(policy(failures / 60, failures))
        newInstallations = Buckets(policy(installations / 60, installations))
    }

    /// Counts a request of a key. Returns `nil` if there is no limit. Lookups and requests about installations have none,
    /// because millions of phones share one key.
    ///
    /// - Parameters:
    ///   - isForClientApps: whether the key ships in apps.
    ///   - scopes: of the operation (`Route.scopes`).
    func take(
        _ key: UUID, isForClientApps: Bool = false, for scopes: [Contract.Scope], at now: Date
    ) -> RateLimit.Standing? {
        if scopes == Contract.Operation.lookup.scopes || scopes == Contract.Operation.putInstallation.scopes {
            return nil
        }
        return (isForClientApps && scopes.isEmpty ? clientApps : keys).take(key, at: now)
    }

    /// Counts a failed authentication. Returns `nil` if there is no limit.
    func fail(_ address: String, at now: Date) -> RateLimit.Standing? { addresses.take(address, at: now) }

    /// Counts a wrong secret, for the pair of installation and address, and for the address.
    ///
    /// - Returns: the limit that is exceeded; `nil`: none.
    func countWrongSecret(of installation: UUID, from address: String, at now: Date) -> RateLimit.Standing? {
        let pair = wrongSecrets.take(Guess(installation: installation, address: address), at: now)
        let standing = pair?.isExhausted == true ? pair : fail(address, at: now)
        return standing.flatMap { $0.isExhausted ? $0 : nil }
    }

    /// The limit of an address with too many new installations; `nil`: another installation may register.
    ///
    /// Only public addresses are limited. Other addresses belong to a proxy or a private network, and all phones may be
    /// behind one proxy.
    func refusesNewInstallation(from address: String, at now: Date) -> RateLimit.Standing? {
        guard Self.isPublic(address) else { return nil }
        return newInstallations.take(address, at: now, 0).flatMap { $0.isExhausted ? $0 : nil }
    }

    /// Counts a new installation.
    func registered(from address: String, at now: Date) {
        if Self.isPublic(address) { _ = newInstallations.take(address, at: now) }
    }

    /// - Parameter address: in the form of `APIContext.address`; an unknown address counts as public.
    private static func isPublic(_ address: String) -> Bool {
        guard !address.isEmpty else { return true }
        let isNetwork = address.contains(":")
        return IPAddress(isNetwork ? address + "::" : address).map(NetworkGuard().allows) ?? true
    }
}

/// Token buckets with one policy, by name.
private final class Buckets<Name: Hashable & Sendable>: Sendable {
    /// The maximum number of buckets. When a new bucket would exceed this number, the buckets that have all their tokens
    /// are removed. If the number is still exceeded, all buckets are removed. A sender with more addresses than this
    /// number gets new buckets again and again, but the memory stays bounded.
    private static var capacity: Int { 20_000 }

    private let policy: RateLimit.Policy?
    private let buckets = Mutex<[Name: RateLimit]>([:])

    /// - Parameter policy: `nil`: there is no limit.
    init(_ policy: RateLimit.Policy?) { self.policy = policy }

    /// - Parameter count: 0: only the state is asked for.
    func take(_ name: Name, at now: Date, _ count: Double = 1) -> RateLimit.Standing? {
        guard let policy else { return nil }
        return buckets.withLock { buckets in
            if buckets[name] == nil, buckets.count >= Self.capacity {
                buckets = buckets.filter { entry in
                    var bucket = entry.value
                    let standing = bucket.take(policy, at: now, 0)
                    return standing.remaining < standing.limit
                }
                if buckets.count >= Self.capacity { buckets.removeAll() }
            }
            return buckets[name, default: RateLimit(policy, at: now)].take(policy, at: now, count)
        }
    }
}
