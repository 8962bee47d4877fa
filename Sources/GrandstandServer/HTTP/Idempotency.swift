internal import Cryptography
internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore
internal import Postgres
internal import Synchronization

/// Returns the first answer again if a POST with the same `Idempotency-Key` is repeated. Only the answer to a request
/// that had an effect is stored; a refused request is processed again.
extension API {
    /// Processes the request, or returns its stored answer.
    ///
    /// - Throws: `invalid-request`, `idempotency-mismatch`, `idempotency-in-progress`, `body-too-large`; the errors of
    ///   the route.
    func answer(_ request: Request, _ context: APIContext, _ route: Route) async throws -> Response {
        var request = request
        let name = route.keepsAnswers ? request.headers[.idempotencyKey] : nil
        if let name, !(1...255).contains(name.count) || !name.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            throw Problem.invalid(
                "Idempotency-Key must have 1 to 255 printable ASCII characters.", at: "Idempotency-Key",
                "1 to 255 printable ASCII characters were expected.")
        }
        if name == nil, route.semaphore == nil { return try await route.handler(request, context) }
        let body = try await request.bytes(upTo: route.bodyLimit)
        request.body = RequestBody(buffer: ByteBuffer(bytes: body))
        // The request waits for its turn before the store may open a transaction.
        let semaphore = route.semaphore?(body.count)
        await semaphore?.enter()
        defer { semaphore?.leave() }
        do {
            let work: IdempotencyStore.Work = { [request] in try await route.handler(request, context) }
            guard let name else { return try await work() }
            let wanted = IdempotentRequest(
                caller: try context.caller.id, key: name,
                content: Array("\(request.method.rawValue) \(request.uri.string)\n".utf8) + body,
                secretName: route.operation.shownOnce, at: now())
            let store = stores.idempotency
            guard let recall = route.recall else { return try await store.once(wanted, work: work) }
            return try await store.inSteps(wanted, recall: { try await recall($0, context) }, work: work)
        } catch let refusal as UnstoredAnswer {
            return refusal.response
        }
    }
}

/// The answer of a route that refused every item, but with a status of success. It is sent, but not stored.
struct UnstoredAnswer: Error {
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
        await PostgresTimeLimit.countingWait { await lock.enter() }
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

/// Stores the first answer to each request with an `Idempotency-Key` in the table `idempotency_keys`, and returns it to
/// repetitions. The table's unique index serialises repetitions over all replicas: if two transactions insert the same
/// ID, the second waits until the first ends.
struct IdempotencyStore: Sendable {
    typealias Work = @Sendable () async throws -> Response

    let database: Database
    private let locks = KeyedLock<[UInt8]>()

    /// Seconds for which an answer is stored.
    static let lifetime: TimeInterval = 86_400

    /// Performs a request once. Its changes and the stored answer commit in one transaction.
    ///
    /// A repetition that comes meanwhile, on any replica, waits and gets the stored answer. If the first request
    /// failed, the repetition is performed. `work` may change data only through the stores, and only in the task that
    /// called it, because the stores find the transaction by the task.
    ///
    /// - Throws: `idempotency-mismatch`; `store-unavailable`; any error of `work`: then nothing was changed or stored.
    func once(_ request: IdempotentRequest, work: Work) async throws -> Response {
        try await locks.withLock(request.id) {
            try await database.transaction { connection in
                guard try await request.claim(on: connection) else {
                    if let kept = try await request.entry(on: connection)?.answer { return kept }
                    throw Problem.inProgress
                }
                let answer = try await database.joining(connection, work)
                try await request.keep(answer, on: connection)
                return answer
            }
        }
    }

    /// Performs a request of several steps once. A step may be a call to Apple.
    ///
    /// The ID of the object that `work` creates is stored in the same transaction as the object (`record`). A
    /// repetition calls `recall` with this ID.
    ///
    /// - Parameters:
    ///   - recall: the answer for an object that was begun; `nil`: the object was not completed, so `work` runs again.
    ///     `recall` throws `idempotency-in-progress` while another replica works on the object.
    /// - Throws: `idempotency-mismatch`; `store-unavailable`; any error of `work`, but the stored ID stays;
    ///   `idempotency-in-progress` while another replica carries out the first request.
    func inSteps(
        _ request: IdempotentRequest, recall: @Sendable (UUID) async throws -> Response?, work: Work
    ) async throws -> Response {
        try await locks.withLock(request.id) {
            let entry = try await request.entry(on: database)
            if let answer = entry?.answer { return answer }
            var answer: Response
            if let begun = entry?.resource, let recalled = try await recall(begun) {
                answer = recalled
                answer.headers[.idempotentReplayed] = "true"
            } else {
                var request = request
                request.formerID = entry?.resource
                answer = try await IdempotentRequest.$current.withValue(request) { try await work() }
            }
            // The work is done, so the request does not fail if its answer cannot be stored. If the request made a
            // resource, the resource is already recorded.
            try? await request.keep(answer, on: database)
            return answer
        }
    }
}

/// A request to be performed once. While it is carried out in steps, it is the task's `current` one: the transaction
/// that begins to make a resource stores the request's row, too.
struct IdempotentRequest: Sendable {
    @TaskLocal static var current: IdempotentRequest?

    /// The ID of the caller's API key. Different callers may use the same idempotency key.
    var caller: UUID
    var key: String
    /// What distinguishes requests with the same key: method, path, body.
    var content: [UInt8]
    /// The member of the answer that is not stored, because it is a secret; `nil`: there is none.
    var secretName: String?
    /// When the request came.
    var at: Date
    /// The resource that an earlier attempt began and that was not completed.
    var formerID: UUID?

    /// The primary key of the request's row.
    var id: [UInt8] { SHA256.hash(Array("\(caller.uuidString) \(key)".utf8)) }
    private var fingerprint: [UInt8] { SHA256.hash(content) }
    /// Older rows count as absent.
    private var oldest: Date { at.addingTimeInterval(-IdempotencyStore.lifetime) }

    /// Stores the resource that is being made.
    ///
    /// - Throws: `idempotency-in-progress` if another replica has begun the same request meanwhile.
    func record(_ resource: UUID, on connection: PostgresConnection) async throws {
        guard try await claim(making: resource, on: connection) else { throw Problem.inProgress }
    }

    /// Inserts the request's row. It takes the place of a row that is too old, or whose resource was begun and not
    /// completed.
    ///
    /// - Parameter resource: the resource that is being made; `nil`: the answer follows in this transaction.
    /// - Returns: whether the row is this request's now.
    fileprivate func claim(making resource: UUID? = nil, on connection: PostgresConnection) async throws -> Bool {
        try await !connection.query(
            """
            insert into idempotency_keys as i (id, fingerprint, accepted_at, resource)
            values (\(id), \(fingerprint), \(at), \(resource)::uuid)
            on conflict (id) do update set fingerprint = excluded.fingerprint, body = null,
                accepted_at = excluded.accepted_at, resource = excluded.resource, status = null
            where i.accepted_at < \(oldest)
                or i.status is null and i.resource is not distinct from \(formerID)::uuid
            returning id
            """
        ).isEmpty
    }

    fileprivate func entry(
        on connection: some PostgresQuerying
    ) async throws -> (answer: Response?, resource: UUID?)? {
        let rows = try await connection.query(
            """
            select fingerprint, status, body, resource from idempotency_keys
            where id = \(id) and accepted_at >= \(oldest)
            """)
        guard let row = rows.first else { return nil }
        guard try row.decode([UInt8].self, "fingerprint") == fingerprint else {
            throw Problem(
                .idempotencyMismatch,
                "This Idempotency-Key came with another request. Use a new one for a new request.")
        }
        let status: Int? = try row.decode("status")
        return (try status.map { .kept(.init(code: $0), try row.decode("body")) }, try row.decode("resource"))
    }

    fileprivate func keep(_ answer: Response, on connection: some PostgresQuerying) async throws {
        let body = try withoutSecret(try await answer.bytes())
        try await connection.query(
            """
            insert into idempotency_keys as i (id, fingerprint, accepted_at, status, body)
            values (\(id), \(fingerprint), \(at), \(answer.status.code), \(body))
            on conflict (id) do update set fingerprint = excluded.fingerprint,
                accepted_at = excluded.accepted_at, status = excluded.status, body = excluded.body
            where i.status is null or i.accepted_at < \(oldest)
            """)
    }

    /// The body for repetitions: a warning takes the place of the secret.
    private func withoutSecret(_ body: [UInt8]) throws -> [UInt8] {
        guard let secret = secretName, case .object(let members) = try JSONValue(parsing: body).kind else {
            return body
        }
        return JSONWriter.text { object in
            for member in members where member.name != secret {
                object.name(dynamic: member.name)
                object.raw(member.value.source)
            }
            object.member("warnings", ["The \(secret) was shown once, in the first answer. Rotate it for a new one."])
        }
    }
}

extension Problem {
    static let inProgress = Problem(
        .idempotencyInProgress,
        "The first request with this Idempotency-Key is under way. Ask again.", retryAfter: 2)
}

extension Response {
    /// The answer to an earlier request, as it is stored.
    fileprivate static func kept(_ status: HTTPResponse.Status, _ body: [UInt8]) -> Response {
        let headers: HTTPFields = [.idempotentReplayed: "true"]
        guard !body.isEmpty else { return Response(status: status, headers: headers) }
        return .json(bytes: body, status: status, headers: headers)
    }
}
