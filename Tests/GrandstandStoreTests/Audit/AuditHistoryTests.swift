internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Old entries of the audit log can be deleted only by `prune_audit_log`, which adds an entry about it.
@Suite(.timeLimit(.minutes(1)))
struct AuditHistoryTests {
    private static let day = 86_400.0

    @Test func `old entries are removed in steps, and the log says how many and from which time`() async throws {
        try await withStores { stores in
            let now = Date()
            let history = PostgresHistory(Database(stores.pool))
            try await Self.write(
                stores, [450, 440.5, 440, 401.5, 40, 0].map { now.addingTimeInterval(-$0 * Self.day) })
            let cutoff = now.addingTimeInterval(-400 * Self.day)
            #expect(try await history.prune(.auditEntries, before: cutoff, limit: 2) == 2)
            #expect(try await history.prune(.auditEntries, before: cutoff, limit: 2) == 2)
            #expect(try await history.prune(.auditEntries, before: cutoff, limit: 2) == 0)
            let entries = try await stores.auditLog.entries(where: AuditFilter(), PageRequest()).items
            #expect(entries.filter { $0.action == .eventCreated }.count == 2)
            let told = entries.filter { $0.action == .auditPruned }
            #expect(told.count == 2)
            #expect(told.allSatisfy { $0.actor == "grandstand" && $0.reason?.hasPrefix("2 entries from ") == true })
        }
    }

    @Test func `entries younger than 30 days cannot be removed`() async throws {
        try await withStores { stores in
            let history = PostgresHistory(Database(stores.pool))
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
        try await withStores { stores in
            try await stores.pool.query("alter type audit_action add value 'moon.landed'")
            try await Self.write(stores, [Date()])
            try await stores.pool.query(
                "insert into audit_log (at, actor, action) values (now(), 'grandstand', 'moon.landed')")
            let entries = try await stores.auditLog.entries(where: AuditFilter(), PageRequest()).items
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
