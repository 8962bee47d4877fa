internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

@Suite(.timeLimit(.minutes(20)))
struct AuditTests {
    @Test func `changes of apps, events, channels and keys have their actors and Apple's answer, the newest first`()
        async throws
    {
        try await withStores { stores in
            let (key, _) = try await stores.keys.create(
                name: "desk", scopes: [.operate], bundleID: nil, by: .commandLine)
            _ = try await stores.apps.put(.sample(), by: AuditActor(key))
            _ = try await stores.events.put(.sample(), by: AuditActor(key), now: stores.now)
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            let answer = APNsRecord(status: 201, reason: nil, requestID: "request-1")
            let channel = try await stores.record(.created(channelID: "abc=="), of: task, answer)
            try await stores.events.cancel(.sample(), by: AuditActor(key), now: stores.now)
            try await stores.align()

            let entries = try await stores.audited()
            #expect(
                entries.map(\.action).reversed() == [
                    .keyCreated, .appRegistered, .eventCreated, .channelCreated, .eventCancelled, .channelRetired,
                ])
            let created = try #require(entries.first { $0.action == .channelCreated })
            #expect(created.actor == "grandstand" && created.answer == answer && created.signingKey == "KEY1234567")
            #expect(created.subject.channel == channel.id && created.subject.channelID == "abc==")
            #expect(created.subject.eventKey == (try .sample()))
            let cancelled = try #require(entries.first { $0.action == .eventCancelled })
            #expect(cancelled.actor == "key:desk" && cancelled.keyID == key.id)
        }
    }

    @Test func `entries can be filtered and paged`() async throws {
        try await withStores { stores in
            for name in ["a", "b", "c"] { try await stores.apps.put(.sample("com.example.\(name)", at: stores.now)) }
            let later = stores.clock.advance(by: 10)
            _ = try await stores.apps.put(.sample("com.example.a", at: later), by: .commandLine)
            func count(_ filter: AuditFilter) async throws -> Int {
                let entries = try await stores.audited(filter)
                return entries.count
            }
            #expect(try await count(AuditFilter(actor: "command-line")) == 1)
            #expect(try await count(AuditFilter(action: .appRegistered)) == 3)
            #expect(try await count(AuditFilter(bundleID: .sample("com.example.A"))) == 2)
            #expect(try await count(AuditFilter(from: later)) == 1)
            #expect(try await count(AuditFilter(to: later)) == 3)
            let first = try await stores.auditLog.entries(where: AuditFilter(), PageRequest(limit: 3))
            #expect(first.items.count == 3)
            let second = try await stores.auditLog.entries(
                where: AuditFilter(), PageRequest(limit: 3, cursor: first.nextCursor))
            #expect(second.items.count == 1)
            #expect(second.nextCursor == nil)
            #expect(Set((first.items + second.items).map(\.id)).count == 4)
        }
    }

    @Test(arguments: [
        "update audit_log set actor = 'nobody'", "delete from audit_log", "truncate audit_log",
    ])
    func `nobody changes or removes an entry`(_ statement: String) async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            await #expect(throws: PostgresError.self) {
                try await stores.pool.query(PostgresQuery(unsafeSQL: statement))
            }
            #expect(try await stores.audited().count == 1)
        }
    }

    @Test func `a refusal repeated for the same reason is one entry`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            for reason in ["BadRequestParams", "BadRequestParams", "TopicDisallowed"] {
                try await stores.align()
                let task = try #require(try await stores.claimChannels().first)
                try await stores.refuse(task, reason, for: 0)
            }
            let refusals = try await stores.audited(AuditFilter(action: .channelRefused))
            #expect(refusals.map(\.answer?.reason) == ["TopicDisallowed", "BadRequestParams"])
        }
    }
}

/// Old entries of the audit log can be deleted only by `prune_audit_log`, which adds an entry about it.
@Suite(.timeLimit(.minutes(20)))
struct AuditHistoryTests {
    private static let day = 86_400.0

    @Test func `old entries are removed in steps, and the log says how many and from which time`() async throws {
        try await withStores { stores in
            let now = Date()
            let history = stores.history
            try await Self.write(
                stores, [450, 440.5, 440, 401.5, 40, 0].map { now.addingTimeInterval(-$0 * Self.day) })
            let cutoff = now.addingTimeInterval(-400 * Self.day)
            #expect(try await history.prune(.auditEntries, before: cutoff, limit: 2) == 2)
            #expect(try await history.prune(.auditEntries, before: cutoff, limit: 2) == 2)
            #expect(try await history.prune(.auditEntries, before: cutoff, limit: 2) == 0)
            let entries = try await stores.audited()
            #expect(entries.filter { $0.action == .eventCreated }.count == 2)
            let told = entries.filter { $0.action == .auditPruned }
            #expect(told.count == 2)
            #expect(told.allSatisfy { $0.actor == "grandstand" && $0.reason?.hasPrefix("2 entries from ") == true })
        }
    }

    @Test func `entries younger than 30 days cannot be removed`() async throws {
        try await withStores { stores in
            let history = stores.history
            try await Self.write(stores, [Date().addingTimeInterval(-100 * Self.day)])
            await #expect(throws: PostgresError.self) {
                try await history.prune(.auditEntries, before: Date().addingTimeInterval(-20 * Self.day), limit: 10)
            }
            // After `prune_audit_log` has returned, another statement in its transaction cannot remove entries either.
            await #expect(throws: PostgresError.self) {
                try await stores.pool.withConnection { connection in
                    do {
                        try await connection.script(
                            """
                            begin;
                            select prune_audit_log(now() - interval '400 days', 10, now());
                            delete from audit_log;
                            commit;
                            """)
                    } catch {
                        try await connection.script("rollback")
                        throw error
                    }
                }
            }
            #expect(try await stores.count("select count(*) as n from audit_log") == 1)
        }
    }

    @Test func `entries of a kind that only a newer build knows are left out`() async throws {
        try await withStores(.own) { stores in
            try await stores.pool.query("alter type audit_action add value 'moon.landed'")
            try await Self.write(stores, [Date()])
            try await stores.pool.query(
                "insert into audit_log (at, actor, action) values (now(), 'grandstand', 'moon.landed')")
            let entries = try await stores.audited()
            #expect(entries.map(\.action) == [.eventCreated])
        }
    }

    private static func write(_ stores: Stores, _ times: [Date]) async throws {
        for time in times {
            try await stores.pool.query(
                "insert into audit_log (at, actor, action) values (\(time), 'key:desk', 'event.created')")
        }
    }
}
