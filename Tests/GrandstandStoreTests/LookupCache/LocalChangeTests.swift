internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Logging
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandService
@testable internal import GrandstandStore

/// A client that changes a lookup's answer and asks the same process does not get the earlier answer, although nothing
/// is announced and the journal is never read.
@Suite(.timeLimit(.minutes(3)))
struct LocalChangeTests {
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        /// The cached record of the event before the change.
        var before = "found"
        let after: String
        /// What the answer must contain after the change.
        var text = ""
        var prepare: @Sendable (Stores) async throws -> Void = { try await $0.open() }
        let make: @Sendable (Stores) async throws -> Void

        var testDescription: String { name }
    }

    static let changes: [Change] = [
        Change(name: "the first update", after: "found", text: #""live""#) { try await $0.accept(.update()) },
        Change(name: "an end", after: "over") { try await $0.accept(.end()) },
        Change(name: "a bulk call with an end", after: "over") { stores in
            _ = try await stores.accept([.update(), .end()])
        },
        Change(name: "an end with an idempotency key", after: "over") { stores in
            let request = IdempotentRequest(caller: UUID(), secret: "gs_s", key: "k", content: [])
            _ = try await PostgresIdempotencyStore(Database(stores.pool)).once(request, now: stores.now) {
                try await stores.accept(.end())
                return KeptAnswer(status: 202, body: [])
            }
        },
        Change(
            name: "a scheduled end whose time has come", after: "over",
            prepare: { stores in
                try await stores.open()
                try await stores.accept(.end(sendAt: stores.now.addingTimeInterval(1)))
            }
        ) { stores in
            stores.clock.advance(by: 1)
            _ = try await stores.outbox.promote(now: stores.now, limit: 10, plan: Stores.plan)
        },
        Change(name: "another start", after: "found", text: #""startsAt":"2030"#) { stores in
            try await stores.put(.sample(startsAt: Date(timeIntervalSince1970: 1_900_000_000)))
        },
        Change(name: "the audience removed", after: "none") { stores in
            try await stores.put(.sample(audiences: [.sample("com.example.Other")]))
        },
        Change(name: "the event deleted", after: "over") { try await $0.events.cancel(.sample(), now: $0.now) },
        Change(name: "an event made", before: "none", after: "pending", prepare: { _ in }) { stores in
            try await stores.put(.sample())
        },
        Change(name: "a channel made", before: "pending", after: "found", prepare: { try await $0.put(.sample()) }) {
            try await $0.provision()
        },
        Change(
            name: "a channel imported", before: "pending", after: "found", text: #""console==""#,
            prepare: { try await $0.put(.sample()) }
        ) { stores in
            _ = try await stores.channels.import(
                ChannelImport(
                    bundleID: .sample(), environment: .production, channelID: "console==",
                    storagePolicy: .mostRecentMessageStored, label: nil, eventKey: .sample(),
                    answer: APNsRecord(status: 200, reason: nil, requestID: nil)),
                by: .server, now: stores.now)
        },
        Change(name: "a channel deleted", after: "pending") { stores in
            try await stores.forceDeletion(of: try await stores.channel())
        },
    ]

    @Test(arguments: LocalChangeTests.changes)
    func `the next lookup shows the change`(_ change: Change) async throws {
        try await withDeafReplica { stores, replica, start in
            try await change.prepare(stores)
            try await start()
            #expect(Self.kind(Self.known(replica)) == change.before)
            try await change.make(stores)
            // The cached answer, if there is one, and the answer that a caller gets.
            if let known = Self.known(replica) { #expect(Self.kind(known) == change.after) }
            let (answer, freshness) = try await replica.answer(
                topic: "com.example.goal", in: .production, .sample())
            #expect(Self.kind(answer) == change.after)
            #expect(freshness == .confirmed)
            #expect(Self.text(answer).contains(change.text), "\(Self.text(answer))")
        }
    }

    @Test func `a change that was undone leaves the answer as it is`() async throws {
        try await withDeafReplica { stores, replica, start in
            try await stores.open()
            try await start()
            let request = IdempotentRequest(caller: UUID(), secret: "gs_s", key: "k", content: [])
            let kind = try await problem {
                try await PostgresIdempotencyStore(Database(stores.pool)).once(request, now: stores.now) {
                    try await stores.accept(.end())
                    throw Problem(.eventEnded, "It is over.")
                }
            }
            #expect(kind == .eventEnded)
            let answer = try await replica.answer(topic: "com.example.goal", in: .production, .sample()).answer
            #expect(Self.kind(answer) == "found")
        }
    }

    @Test func `a key revoked or replaced during another request is refused after the commit`()
        async throws
    {
        try await withDeafReplica { stores, _, _ in
            let keys = CachedKeyStore(stores.keys, now: { stores.now })
            let (key, secret) = try await stores.keys.create(name: "k", scopes: [.admin], bundleID: nil)
            await keys.reload()
            let request = IdempotentRequest(caller: UUID(), secret: "gs_s", key: "k", content: [])
            _ = try await PostgresIdempotencyStore(Database(stores.pool)).once(request, now: stores.now) {
                _ = try await keys.rotate(key.id, overlapEnds: stores.now, by: .server, now: stores.now)
                // Another caller's request, outside this transaction, which is not committed yet.
                let meanwhile = try await Task.detached { try await keys.authenticate(secret) }.value
                #expect(meanwhile?.id == key.id)
                return KeptAnswer(status: 201, body: [])
            }
            #expect(keys.known(secret) == nil)
            #expect(try await keys.authenticate(secret) == nil)
        }
    }

    // MARK: Helpers

    /// Stores whose transactions report their changes to a replica. It gets no other reports. It reads everything once,
    /// at `start`.
    private func withDeafReplica(
        _ body: (Stores, LookupReplica, () async throws -> Void) async throws -> Void
    ) async throws {
        try await withDatabase { test in
            let changes = LocalChanges()
            let pool = PostgresPool(
                configuration: .stores(connectionString: test.connectionString, changes: changes),
                logger: TestLog.logger("database"))
            let stores = Stores(TestDatabase(pool: pool, connectionString: test.connectionString))
            try await stores.apps.put(.sample(at: stores.now))
            let replica = LookupReplica(
                source: DeafSource(base: PostgresLookupSource(test.database)),
                now: { stores.now }, logger: TestLog.logger("lookups"))
            var running: Task<Void, Never>?
            do {
                try await body(stores, replica) {
                    running = Task { await replica.run() }
                    try await until("everything is read") { replica.state.withLock(\.backlog.isWhole) }
                    changes.follow { replica.changed($0) }
                }
            } catch {
                running?.cancel()
                await pool.close()
                throw error
            }
            running?.cancel()
            await running?.value
            await pool.close()
        }
    }

    private static func known(_ replica: LookupReplica) -> LookupAnswer? {
        EventKey(rawValue: "match-1").flatMap { replica.known(topic: "com.example.goal", in: .production, $0)?.answer }
    }

    private static func kind(_ answer: LookupAnswer?) -> String {
        switch answer {
        case .found: "found"
        case .pending: "pending"
        case .over: "over"
        case .noSuchVariant: "another"
        case nil: "none"
        }
    }

    private static func text(_ answer: LookupAnswer?) -> String {
        guard case .found(let body)? = answer else { return "" }
        return String(decoding: body.bytes, as: UTF8.self)
    }
}

/// The real source, but without announcements and with a journal that is always empty.
private struct DeafSource: LookupSource {
    let base: PostgresLookupSource

    func announcements() -> AsyncStream<LookupAnnouncement> {
        AsyncStream { $0.yield(.listening) }
    }
    func position() async throws -> LookupPosition { try await base.position() }
    func changes(
        since position: LookupPosition
    ) async throws -> (changes: [LookupChange], position: LookupPosition) { ([], position) }
    func tidy() async throws {}
    func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] { try await base.records(of: keys) }
    func page(
        after: EventKey?, limit: Int
    ) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?) {
        try await base.page(after: after, limit: limit)
    }
}
