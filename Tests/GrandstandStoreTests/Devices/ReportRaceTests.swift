internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Reports of activities while others write the same rows.
@Suite(.timeLimit(.minutes(2)))
struct ReportRaceTests {
    private static let waiting: PostgresQuery = """
        select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        """

    @Test func `an installation forgotten during its report is gone, and so are its activities`()
        async throws
    {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let id = try Phones.id()
            try await phones.put(Phones.state(), of: id)
            let row = try await phones.row(id)
            let reporting = try await phones.stores.pool.transaction { connection in
                try await connection.query("delete from installations where id = \(row)")
                let reporting = Task { try await problem { try await phones.report(of: id, token: "cc") } }
                try await until("the report waits") { try await phones.stores.count(Self.waiting) == 1 }
                return reporting
            }
            #expect(try await reporting.value == .installationNotFound)
            #expect(try await phones.stores.count("select count(*) as n from activities") == 0)
        }
    }

    @Test func `a report that another transaction disturbed is repeated`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let id = try Phones.id()
            try await phones.put(Phones.state(), of: id)
            for name in ["one", "two"] { try await phones.report(name, of: id) }
            let transaction = ActivityReportTransaction(database: Database(phones.stores.pool))
            let key = InstallationKey(
                app: try await phones.stores.count("select app as n from installations limit 1"), id: id.id)
            let reports = try ["one", "two"].map { name in
                ActivityReport(
                    key: key, id: id, secret: SecretHash(of: Phones.secret),
                    activity: DeviceActivity(
                        id: name, eventKey: try .sample(), attributesType: Phones.type, state: .ended),
                    isSampled: false, now: phones.stores.now)
            }
            let reporting = try await phones.stores.pool.transaction { connection in
                // At the deadlock PostgreSQL must cancel the report and not this transaction.
                try await connection.query("set local deadlock_timeout = '60s'")
                try await connection.query("select from activities where activity = 'two' for no key update")
                let reporting = Task { try await transaction.report(reports) }
                try await until("the report waits") { try await phones.stores.count(Self.waiting) == 1 }
                try await connection.query("select from activities where activity = 'one' for no key update")
                return reporting
            }
            for result in try await reporting.value { _ = try result.get() }
            #expect(
                try await phones.stores.count("select count(*) as n from activities where state = 'ended'") == 2)
        }
    }

    @Test func `a settlement locks activities in the order of their numbers`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let id = try Phones.id()
            try await phones.put(Phones.state(), of: id)
            for (name, token) in [("one", "cc"), ("two", "dd")] { try await phones.report(name, of: id, token: token) }
            let rows = try await phones.stores.pool.query("select id from activities order by id").map {
                try $0.decode(Int.self, "id")
            }
            let tokens = ["cc", "dd"].compactMap { DeviceToken(hex: $0) }
            let (now, later) = (phones.stores.now, phones.stores.now.addingTimeInterval(5))
            let care = TokenCare(
                [
                    TokenCare.Answer(
                        owner: rows[1], token: tokens[1], sentAt: later,
                        verdict: .gone(reason: "Unregistered", since: nil)),
                    TokenCare.Answer(
                        owner: rows[0], token: tokens[0], sentAt: later, verdict: .suspect(reason: "BadDeviceToken")),
                ])
            let database = Database(phones.stores.pool)
            let settling = try await phones.stores.pool.transaction { connection in
                try await connection.query("select from activities where id = \(rows[0]) for no key update")
                let settling = Task {
                    try await database.transaction { connection in
                        _ = try await connection.pipeline(care.pruning(.activities, now: now))
                    }
                }
                try await until("the settlement waits") { try await phones.stores.count(Self.waiting) == 1 }
                // With `nowait` the statement fails at once if the settlement holds the lock. Waiting for the lock
                // would be the deadlock.
                try await connection.query(
                    "select from activities where id = \(rows[1]) for no key update nowait")
                return settling
            }
            try await settling.value
            #expect(
                try await phones.stores.count("select count(*) as n from activities where in_crowd") == 0)
        }
    }

    @Test func `an earlier owner of a token keeps what it registered meanwhile`() async throws {
        try await withPhones { phones in
            let (holder, taker) = (try Phones.id(), try Phones.id())
            try await phones.put(Phones.state(token: "aa"), of: holder)
            let app = try await phones.stores.count("select app as n from installations limit 1")
            let database = Database(phones.stores.pool)
            let state = try Phones.state(token: "aa")
            var names = InstallationRows.Names()
            names.add(InstallationKey(app: app, id: taker.id), state.startTokens)
            var register = try InstallationRows.register(try await database.query(InstallationRows.load(names)))
            _ = try register.put(
                state, of: InstallationKey(app: app, id: taker.id), secret: SecretHash(of: Phones.secret),
                at: phones.stores.now)
            // The taker's registration has read the holder's row without a lock, so the holder can register meanwhile.
            try await phones.put(Phones.state(token: "bb"), of: holder)
            let changes = register.changes
            try await database.transaction { connection in
                _ = try await connection.pipeline(InstallationRows.write(changes, at: phones.stores.now))
            }
            let kept = try #require(DeviceToken(hex: "bb"))
            #expect(try await phones.known(holder).state.startTokens == [Phones.type: kept])
            #expect(try await phones.known(taker).state.startTokens == state.startTokens)
        }
    }
}
