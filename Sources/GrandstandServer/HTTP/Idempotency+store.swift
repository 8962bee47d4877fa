internal import Cryptography
internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore
internal import Postgres

/// Stores the first answer to each request with an `Idempotency-Key` in the table `idempotency_keys`, and returns it to
/// repetitions. The table's unique index serialises repetitions over all replicas: if two transactions insert the same
/// ID, the second waits until the first ends.
struct IdempotencyStore: Sendable {
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
    func once(
        _ request: IdempotentRequest, now: Date, work: @Sendable () async throws -> Response
    ) async throws -> Response {
        let commit = Database.Commit()
        let outcome = try await locks.withLock(request.id) {
            try await database.transaction { connection in
                guard try await Self.claim(request, now: now, on: connection) else {
                    let kept = try await Self.entry(of: request, now: now, on: connection)?.answer
                    guard let kept else { throw Problem.inProgress }
                    return kept
                }
                let answer = try await database.joining(connection, commit) { try await work() }
                try await Self.keep(answer, to: request, now: now, on: connection)
                return answer
            }
        }
        commit.happened()
        return outcome
    }

    /// Performs a request of several steps once. A step may be a call to Apple.
    ///
    /// The ID of the object that `work` creates is stored in the same transaction as the object (`IdempotencyMark`). A
    /// repetition calls `recover` with this ID.
    ///
    /// - Parameters:
    ///   - waitLimit: how long a repetition waits for the first request to finish.
    ///   - recover: the answer for an object that was begun; `nil`: the object was not completed, so `work` runs again.
    ///     `recover` throws `idempotency-in-progress` while another replica works on the object.
    /// - Throws: `idempotency-mismatch`; `store-unavailable`; any error of `work`, but the stored ID stays;
    ///   `idempotency-in-progress` if the first request still runs after `waitLimit`.
    func inSteps(
        _ request: IdempotentRequest, waitLimit: Duration, now: @Sendable () -> Date,
        recover: @Sendable (UUID) async throws -> Response?,
        work: @Sendable () async throws -> Response
    ) async throws -> Response {
        let deadline = ContinuousClock.now + waitLimit
        return try await locks.withLock(request.id) {
            while true {
                do {
                    let entry = try await Self.entry(of: request, now: now(), on: database)
                    if let answer = entry?.answer { return answer }
                    let answer: Response
                    if let begun = entry?.resource, var recovered = try await recover(begun) {
                        recovered.headers[.idempotentReplayed] = "true"
                        answer = recovered
                    } else {
                        let mark = IdempotencyMark(request: request, now: now(), former: entry?.resource)
                        answer = try await IdempotencyMark.$current.withValue(mark) { try await work() }
                    }
                    // The work is done, so the request does not fail if its answer cannot be stored. If the request made
                    // a resource, the resource is already recorded.
                    try? await Self.keep(answer, to: request, now: now(), on: database)
                    return answer
                } catch let problem as Problem
                    where problem.kind == .idempotencyInProgress && ContinuousClock.now < deadline
                {
                    // No signal comes when the other replica has finished, so poll.
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
        }
    }

    // MARK: The row

    /// Inserts the request's row. It takes the place of a row that is older than `lifetime`, or whose resource was begun and
    /// not completed.
    ///
    /// - Parameters:
    ///   - resource: the resource that is being made; `nil`: the answer follows in this transaction.
    ///   - former: the resource that was not completed.
    /// - Returns: whether the row is this request's now.
    fileprivate static func claim(
        _ request: IdempotentRequest, making resource: UUID? = nil, after former: UUID? = nil, now: Date,
        on connection: PostgresConnection
    ) async throws -> Bool {
        try await !connection.query(
            """
            insert into idempotency_keys as i (id, fingerprint, accepted_at, resource)
            values (\(request.id), \(request.fingerprint), \(now), \(resource)::uuid)
            on conflict (id) do update set fingerprint = excluded.fingerprint, accepted_at = excluded.accepted_at,
                resource = excluded.resource, status = null, body = null
            where i.accepted_at < \(now.addingTimeInterval(-lifetime))
                or i.status is null and i.resource is not distinct from \(former)::uuid
            returning id
            """
        ).isEmpty
    }

    private static func entry(
        of request: IdempotentRequest, now: Date, on connection: some PostgresQuerying
    ) async throws -> (answer: Response?, resource: UUID?)? {
        let rows = try await connection.query(
            """
            select fingerprint, status, body, resource from idempotency_keys
            where id = \(request.id) and accepted_at >= \(now.addingTimeInterval(-lifetime))
            """)
        guard let row = rows.first else { return nil }
        guard try row.decode([UInt8].self, "fingerprint") == request.fingerprint else {
            throw Problem(
                .idempotencyMismatch,
                "This Idempotency-Key came with another request in the last 24 hours. Use a new key for a new request.")
        }
        let status: Int? = try row.decode("status")
        return (
            try status.map { Response(kept: $0, try row.decode("body")) },
            try row.decode("resource")
        )
    }

    private static func keep(
        _ answer: Response, to request: IdempotentRequest, now: Date, on connection: some PostgresQuerying
    ) async throws {
        let body = try request.repeated(try await answer.bytes())
        try await connection.query(
            """
            insert into idempotency_keys as i (id, fingerprint, accepted_at, status, body)
            values (\(request.id), \(request.fingerprint), \(now), \(answer.status.code), \(body))
            on conflict (id) do update set fingerprint = excluded.fingerprint, accepted_at = excluded.accepted_at,
                status = excluded.status, body = excluded.body
            where i.status is null or i.accepted_at < \(now.addingTimeInterval(-lifetime))
            """)
    }
}

/// The idempotent request that this task carries out in steps. The transaction that begins to make a resource stores
/// the request's row, too.
struct IdempotencyMark: Sendable {
    @TaskLocal static var current: IdempotencyMark?

    let request: IdempotentRequest
    let now: Date
    /// The resource that an earlier attempt began and that was not completed.
    var former: UUID?

    /// Stores the resource that is being made.
    ///
    /// - Throws: `idempotency-in-progress` if another replica has begun the same request meanwhile.
    func note(_ resource: UUID, on connection: PostgresConnection) async throws {
        guard try await IdempotencyStore.claim(request, making: resource, after: former, now: now, on: connection)
        else {
            throw Problem.inProgress
        }
    }
}

extension Problem {
    static let inProgress = Problem(
        .idempotencyInProgress,
        "The first request with this Idempotency-Key is still being carried out. Ask again.", retryAfter: 2)
}

/// A request to be performed once.
struct IdempotentRequest: Sendable {
    /// The ID of the caller's API key. Different callers may use the same idempotency key.
    var caller: UUID
    var key: String
    /// What distinguishes requests with the same key: method, path, body.
    var content: [UInt8]
    /// The member of the answer that is not stored, because it is a secret; `nil`: there is none.
    var shownOnce: String?

    /// The primary key of the request's row.
    var id: [UInt8] { SHA256.hash(Array("\(caller.uuidString) \(key)".utf8)) }
    var fingerprint: [UInt8] { SHA256.hash(content) }

    /// The body for repetitions: a warning takes the place of the secret.
    fileprivate func repeated(_ body: [UInt8]) throws -> [UInt8] {
        guard let secret = shownOnce, case .object(let members) = try JSONValue(parsing: body).kind else { return body }
        return JSONWriter.text { object in
            for member in members where member.name != secret {
                object.name(dynamic: member.name)
                object.raw(member.value.source)
            }
            let warning =
                "The \(secret) was shown once, in the first answer. If you do not have it, rotate it to get a new one."
            object.member("warnings", [warning])
        }
    }
}

extension Response {
    /// The answer to an earlier request, as it is stored.
    fileprivate init(kept status: Int, _ body: [UInt8]) {
        var headers: HTTPFields = [.idempotentReplayed: "true"]
        if !body.isEmpty { headers[.contentType] = status < 400 ? "application/json" : "application/problem+json" }
        self.init(
            status: .init(code: status), headers: headers,
            body: body.isEmpty ? .init() : ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
