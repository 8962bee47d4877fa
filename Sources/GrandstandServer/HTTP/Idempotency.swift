internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Postgres
internal import Synchronization

/// Returns the first answer again if a POST with the same `Idempotency-Key` is repeated. Only the answer to a request
/// that had an effect is stored; a refused request is processed again.
extension API {
    /// How long a repetition waits for the first request to finish.
    private static let waitLimit = Duration.seconds(10)

    /// Processes the request, or returns its stored answer.
    ///
    /// - Throws: `invalid-request`, `idempotency-mismatch`, `idempotency-in-progress`, `body-too-large`; the errors of
    ///   the route.
    func answer(_ request: Request, _ context: APIContext, _ route: Route) async throws -> Response {
        var request = request
        let wanted = try await Self.idempotent(&request, context, route)
        let prepared = try await route.prepare(request, context)
        // The request waits for its turn before the store may open a transaction.
        await prepared.turn?.enter()
        defer { prepared.turn?.leave() }
        do {
            guard let wanted else { return try await prepared.answer() }
            guard let recover = route.recover else {
                return try await stores.idempotency.once(wanted, now: now(), work: prepared.answer)
            }
            return try await stores.idempotency.inSteps(
                wanted, waitLimit: Self.waitLimit, now: now, recover: { try await recover($0, context) },
                work: prepared.answer)
        } catch let refusal as WithoutEffect {
            return refusal.response
        }
    }

    /// - Returns: `nil`: the request has no `Idempotency-Key`, or its answer is not stored.
    private static func idempotent(
        _ request: inout Request, _ context: APIContext, _ route: Route
    ) async throws -> IdempotentRequest? {
        guard route.keepsAnswers, let name = request.headers[.idempotencyKey], let key = context.key else { return nil }
        guard (1...255).contains(name.count), name.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Problem.invalid(
                "Idempotency-Key must have 1 to 255 printable ASCII characters.", at: "Idempotency-Key",
                "1 to 255 printable ASCII characters were expected.")
        }
        let body = try await request.bytes(upTo: route.bodyLimit)
        request.body = RequestBody(buffer: ByteBuffer(bytes: body))
        return IdempotentRequest(
            caller: key.id, key: name, content: Array("\(request.method.rawValue) \(request.uri.string)\n".utf8) + body,
            shownOnce: route.operation.shownOnce)
    }
}

/// The answer of a route that refused every item, but with a status of success. It is sent, but not stored.
struct WithoutEffect: Error {
    let response: Response
}

extension Response {
    /// The body's bytes. Only for bodies that are already in memory.
    func bytes() async throws -> [UInt8] {
        let collector = Collector()
        try await body.write(collector)
        return collector.bytes
    }
}

/// Collects the bytes that a body writes.
private final class Collector: ResponseBodyWriter {
    var bytes: [UInt8] = []

    func write(_ buffer: ByteBuffer) async throws { bytes += buffer.readableBytesView }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

// The force-unwraps are safe: the literals are valid field names (RFC 9110).
extension HTTPField.Name {
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    static let idempotentReplayed = HTTPField.Name("Idempotent-Replayed")!
}

/// A lock for each key. One task at a time holds the lock of a key, in the order in which the tasks asked. A task that
/// waits holds no other resource: a hundred repetitions of one request hold one database connection, not a hundred.
final class KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// The locks that tasks hold or wait for.
    private let locks = Mutex<[Key: (lock: Semaphore, users: Int)]>([:])

    func withLock<Value: Sendable>(_ key: Key, _ body: () async throws -> Value) async rethrows -> Value {
        let lock = locks.withLock { locks in
            let (lock, users) = locks[key] ?? (Semaphore(permits: 1), 0)
            locks[key] = (lock, users + 1)
            return lock
        }
        await PostgresTimeLimit.counting { await lock.enter() }
        defer {
            lock.leave()
            locks.withLock { locks in
                let users = (locks[key]?.users ?? 1) - 1
                locks[key] = users == 0 ? nil : (lock, users)
            }
        }
        return try await body()
    }
}
