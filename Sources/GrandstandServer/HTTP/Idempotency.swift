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
        do {
            return try await carryOut(request, context, route)
        } catch let refusal as WithoutEffect {
            return refusal.response
        }
    }

    private func carryOut(_ request: Request, _ context: APIContext, _ route: Route) async throws -> Response {
        guard route.keepsAnswers, let name = request.headers[.idempotencyKey], let key = context.key else {
            return try await route.answer(request, context)
        }
        guard (1...255).contains(name.count), name.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Problem.invalid(
                "Idempotency-Key must have 1 to 255 printable ASCII characters.", at: "Idempotency-Key",
                "1 to 255 printable ASCII characters were expected.")
        }
        let body = try await request.bytes(upTo: route.bodyLimit)
        var buffered = request
        buffered.body = RequestBody(buffer: ByteBuffer(bytes: body))
        let unread = buffered
        let wanted = IdempotentRequest(
            caller: key.id, key: name, content: Array("\(request.method.rawValue) \(request.uri.string)\n".utf8) + body,
            shownOnce: route.operation.shownOnce)
        // A repetition gets the first answer even if its own preparation fails, for example because a file is missing
        // now.
        let prepared: Result<Route.Prepared, any Error>
        do {
            prepared = .success(try await route.prepare(unread, context))
        } catch {
            prepared = .failure(error)
        }
        let answer = try await Route.inTurn((try? prepared.get())?.turn) {
            try await carryOut(wanted, context, route) { try await prepared.get().answer() }
        }
        return Self.response(answer)
    }

    /// Call this only when the request has its turn (`Route.inTurn`). The store may open a transaction here, and a
    /// request must not hold a transaction while it waits for its turn.
    private func carryOut(
        _ wanted: IdempotentRequest, _ context: APIContext, _ route: Route,
        _ answer: @escaping @Sendable () async throws -> Response
    ) async throws -> KeptAnswer {
        let work: @Sendable () async throws -> KeptAnswer = { try await Self.kept(try await answer()) }
        if let recover = route.recover {
            return try await stores.idempotency.inSteps(
                wanted, waitLimit: Self.waitLimit, now: now,
                recover: { id in
                    guard let response = try await recover(id, context) else { return nil }
                    return try await Self.kept(response)
                },
                work: work)
        }
        return try await stores.idempotency.once(wanted, now: now(), work: work)
    }

    private static func kept(_ response: Response) async throws -> KeptAnswer {
        KeptAnswer(status: response.status.code, body: try await response.bytes())
    }

    private static func response(_ answer: KeptAnswer) -> Response {
        var headers: HTTPFields = [:]
        if !answer.body.isEmpty {
            headers[.contentType] = answer.status < 400 ? "application/json" : "application/problem+json"
        }
        if answer.isReplay { headers[.idempotentReplayed] = "true" }
        return Response(
            status: .init(code: answer.status), headers: headers,
            body: answer.body.isEmpty ? .init() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}

/// The answer of a route that refused every item, but with a status of success. It is sent, but not stored.
struct WithoutEffect: Error {
    let response: Response
}

extension Response {
    /// The body's bytes. Only for bodies that are already in memory.
    func bytes() async throws -> [UInt8] {
        let collected = Collector.Bytes()
        try await body.write(Collector(bytes: collected))
        return collected.value
    }
}

/// Collects the bytes that a body writes.
private struct Collector: ResponseBodyWriter {
    final class Bytes { var value: [UInt8] = [] }

    let bytes: Bytes

    mutating func write(_ buffer: ByteBuffer) async throws { bytes.value += buffer.readableBytesView }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
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
