internal import Cryptography
internal import FoundationEssentials
internal import Grandstand
internal import JSON
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
        _ request: IdempotentRequest, now: Date, work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome {
        let commit = Database.Commit()
        let outcome = try await locks.withLock(request.id) {
            try await database.transaction { connection in
                if let kept = try await Self.begin(request, now: now, leasedUntil: nil, on: connection).answer {
                    return IdempotentOutcome(answer: kept, isReplay: true)
                }
                let answer = try await database.joining(connection, commit) { try await work() }
                try await Self.keep(answer, to: request, on: connection)
                return IdempotentOutcome(answer: answer, isReplay: false)
            }
        }
        commit.happened()
        return outcome
    }

    /// The stored row of one idempotency key.
    struct Entry {
        var answer: KeptAnswer?
        var resource: UUID?
        /// Whether another request holds the lease.
        var isTaken = false
        /// The end of the lease that this call has just taken.
        var leasedUntil: Date?
    }

    /// Inserts the row for this idempotency key, or reads the existing one. A row older than `lifetime` is overwritten.
    ///
    /// - Throws: `idempotency-mismatch`.
    static func begin(
        _ request: IdempotentRequest, now: Date, leasedUntil: Date?, on connection: PostgresConnection
    ) async throws -> Entry {
        let (id, fingerprint) = (request.id, SHA256.hash(request.content))
        let taken = try await connection.query(
            """
            insert into idempotency_keys as i (id, fingerprint, accepted_at, leased_until)
            values (\(id), \(fingerprint), \(now), \(leasedUntil))
            on conflict (id) do update set fingerprint = excluded.fingerprint, accepted_at = excluded.accepted_at,
                leased_until = excluded.leased_until, resource = null, status = null, body = null
            where i.accepted_at < \(now.addingTimeInterval(-lifetime))
            returning id
            """)
        if !taken.isEmpty { return Entry() }
        let rows = try await connection.query(
            """
            select fingerprint, status, body, resource, leased_until from idempotency_keys where id = \(id) for update
            """)
        guard let row = rows.first else {
            throw Problem(
                .idempotencyInProgress,
                "The stored answer for this Idempotency-Key has just expired. Send the request again.",
                retryAfter: 1)
        }
        guard try row.decode([UInt8].self, "fingerprint") == fingerprint else {
            throw Problem(
                .idempotencyMismatch,
                "This Idempotency-Key came with another request in the last 24 hours. Use a new key for a new request.")
        }
        let lease: Date? = try row.decode("leased_until")
        let status: Int? = try row.decode("status")
        return Entry(
            answer: try status.map { KeptAnswer(status: $0, body: try row.decode("body")) },
            resource: try row.decode("resource"), isTaken: lease.map { $0 > now } ?? false)
    }

    private static func keep(
        _ answer: KeptAnswer, to request: IdempotentRequest, on connection: some PostgresQuerying
    ) async throws {
        let body = try answer.repeatedBody(without: request.shownOnce)
        try await connection.query(
            """
            update idempotency_keys set status = \(answer.status), body = \(body), leased_until = null
            where id = \(request.id)
            """)
    }

    /// Performs a request of several steps once. A step may be a call to Apple.
    ///
    /// The ID of the object that `work` creates is stored in the same transaction as the object. If the process dies
    /// before the answer is stored, a repetition calls `recover` with this ID.
    ///
    /// - Parameters:
    ///   - lease: how long the request holds its idempotency key. If the process dies, repetitions wait until the lease
    ///     ends.
    ///   - waitLimit: how long a repetition waits for the first request to finish.
    ///   - recover: the answer for an object that was begun; `nil`: the object was not completed, so `work` runs again.
    /// - Throws: `idempotency-mismatch`; `store-unavailable`; any error of `work`, but the stored ID stays;
    ///   `idempotency-in-progress` if the first request still runs after `waitLimit`.
    func inSteps(
        _ request: IdempotentRequest, lease: Duration, waitLimit: Duration, now: @Sendable () -> Date,
        recover: @Sendable (UUID) async throws -> KeptAnswer?,
        work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome {
        try await locks.withLock(request.id) {
            let entry = try await take(request, lease: lease, waitLimit: waitLimit, now: now)
            if let answer = entry.answer { return IdempotentOutcome(answer: answer, isReplay: true) }
            do {
                if let resource = entry.resource, let answer = try await recover(resource) {
                    return await conclude(answer, request, isReplay: true)
                }
                let answer = try await IdempotencyMark.$current.withValue(IdempotencyMark(id: request.id)) {
                    try await work()
                }
                return await conclude(answer, request, isReplay: false)
            } catch {
                await release(request, leasedUntil: entry.leasedUntil)
                throw error
            }
        }
    }

    private func take(
        _ request: IdempotentRequest, lease: Duration, waitLimit: Duration, now: @Sendable () -> Date
    ) async throws -> Entry {
        let clock = ContinuousClock()
        let deadline = clock.now + waitLimit
        while true {
            let moment = now()
            let leasedUntil = moment.addingTimeInterval(Double(lease.components.seconds)).inMicroseconds
            var entry: Entry
            do {
                entry = try await take(request, at: moment, leasedUntil: leasedUntil)
            } catch let problem as Problem where problem.kind == .storeUnavailable {
                // The database may have stored the lease, although it did not answer.
                await release(request, leasedUntil: leasedUntil)
                throw problem
            }
            if !entry.isTaken || entry.answer != nil {
                entry.leasedUntil = leasedUntil
                return entry
            }
            guard clock.now < deadline else {
                throw Problem(
                    .idempotencyInProgress,
                    "The first request with this Idempotency-Key is still being carried out. Ask again.", retryAfter: 2)
            }
            // Another replica carries out the request. No signal comes when the request is done, so poll.
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func take(_ request: IdempotentRequest, at moment: Date, leasedUntil: Date) async throws -> Entry {
        try await database.transaction { connection in
            let entry = try await Self.begin(request, now: moment, leasedUntil: leasedUntil, on: connection)
            if entry.answer == nil, !entry.isTaken {
                try await connection.query(
                    "update idempotency_keys set leased_until = \(leasedUntil) where id = \(request.id)")
            }
            return entry
        }
    }

    private func conclude(
        _ answer: KeptAnswer, _ request: IdempotentRequest, isReplay: Bool
    ) async -> IdempotentOutcome {
        // The work is done, so the request does not fail if its answer cannot be stored. If the request made a
        // resource, the resource is already recorded.
        try? await Self.keep(answer, to: request, on: database)
        return IdempotentOutcome(answer: answer, isReplay: isReplay)
    }

    /// Gives the lease back after a failure, so that the next request may try at once. If the creation of a resource
    /// has begun, the row stays and keeps the resource. Otherwise the row is deleted, and any request may use the
    /// idempotency key. If the database does not answer, giving back is tried again in the background, once a second
    /// for a minute.
    private func release(_ request: IdempotentRequest, leasedUntil: Date?) async {
        let id = request.id
        let release: PostgresQuery = """
            with freed as (
                delete from idempotency_keys where id = \(id) and status is null and resource is null
                    and leased_until = \(leasedUntil))
            update idempotency_keys set leased_until = null
            where id = \(id) and status is null and resource is not null and leased_until = \(leasedUntil)
            """
        if (try? await database.query(release)) != nil { return }
        Task.detached { [database] in
            for _ in 0..<60 {
                try? await Task.sleep(for: .seconds(1))
                if (try? await database.query(release)) != nil { return }
            }
        }
    }
}

/// A request to be performed once.
struct IdempotentRequest {
    /// The ID of the caller's API key. Different callers may use the same idempotency key.
    var caller: UUID
    var key: String
    /// What distinguishes requests with the same key: method, path, body.
    var content: [UInt8]
    /// The member of the answer that is not stored, because it is a secret; `nil`: there is none.
    var shownOnce: String?

    /// The primary key of the request's row.
    var id: [UInt8] { SHA256.hash(Array("\(caller.uuidString) \(key)".utf8)) }
}

/// The answer to a performed request, as it is stored.
struct KeptAnswer: Hashable {
    /// The HTTP status.
    var status: Int
    /// JSON.
    var body: [UInt8]

    /// The body for repetitions: a warning takes the place of the member `secret`.
    func repeatedBody(without secret: String?) throws -> [UInt8] {
        guard let secret, case .object(let members) = try JSONValue(parsing: body).kind else { return body }
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

/// An answer, and whether it is the stored answer to an earlier request.
struct IdempotentOutcome: Hashable {
    var answer: KeptAnswer
    var isReplay: Bool
}
