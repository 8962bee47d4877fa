internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Registrations on PostgreSQL.
@Suite(.timeLimit(.minutes(20)))
struct RegistrationTests {
    @Test func `an unknown app, another installation or a wrong secret is refused and changes nothing`() async throws {
        try await withPhones { phones in
            let id = try Phones.id()
            let state = Phones.state(3)
            try await phones.put(state, of: id)
            var elsewhere = id
            elsewhere.bundleID = try .sample("com.example.None")
            let wrong = String(repeating: "x", count: 43)
            let other = Phones.state(9, topics: ["team:b"])
            let store = phones.store
            let now = phones.stores.now
            try await refuses(.appNotFound) { try await phones.put(state, of: elsewhere) }
            try await refuses(.wrongInstallationSecret) { try await phones.put(other, of: id, secret: wrong) }
            try await refuses(.wrongInstallationSecret) { try await store.installation(id, secret: wrong) }
            try await refuses(.wrongInstallationSecret) { try await store.forget(id, secret: wrong) }
            try await refuses(.wrongInstallationSecret) { try await store.forget(activity: "a", of: id, secret: wrong) }
            try await refuses(.installationNotFound) { try await phones.known(Phones.id()) }
            // The same UUID in the other environment is another installation.
            try await refuses(.installationNotFound) { try await phones.known(Phones.id(id.id, in: .development)) }
            try await refuses(.staleInstallation) {
                try await store.put(Phones.state(2), of: id, secret: Phones.secret, now: now)
            }
            #expect(try await phones.state(of: id) == state)
        }
    }

    @Test func `concurrent registrations are answered one by one`() async throws {
        try await withPhones { phones in
            let ids = try (0..<300).map { _ in try Phones.id() }
            let created = try await withThrowingTaskGroup(of: Bool.self) { group in
                for (number, id) in ids.enumerated() {
                    for _ in 0..<2 {
                        group.addTask { try await phones.put(Phones.state(1, token: "00\(1_000 + number)"), of: id) }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(created == 300)
            #expect(try await phones.stores.rows("installations") == 300)
            #expect(try await phones.stores.rows("start_tokens") == 300)
            #expect(try await phones.stores.rows("follows") == 300)
        }
    }

    /// Two stores act as two replicas, so their calls are not combined into one batch.
    @Test func `after concurrent registrations on several replicas each token has one owner`() async throws {
        try await withDatabase { test in
            let phones = try await Phones(test)
            let other = InstallationStore(test.database)
            let ids = try (0..<6).map { _ in try Phones.id() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for round in 0..<28 {
                    for (number, id) in ids.enumerated() {
                        let store = (round + number).isMultiple(of: 2) ? phones.store : other
                        // Each token moves to the next installation.
                        let token = "aa0\((round + number) % 4)"
                        group.addTask {
                            _ = try await store.put(
                                Phones.state(token: token), of: id, secret: Phones.secret, now: phones.stores.now)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await phones.stores.rows("installations") == 6)
            #expect(
                try await phones.stores.count("select count(*) - count(distinct token) as n from start_tokens") == 0)
        }
    }

    @Test func `a token keeps its time of registration until it is registered again after a refusal`()
        async throws
    {
        try await withPhones { phones in
            let id = try Phones.id()
            let state = Phones.state()
            try await phones.put(state, of: id)
            let first = phones.stores.now
            try await phones.stores.pool.query(
                "update start_tokens set suspect_since = now(), reason = 'BadDeviceToken'")
            #expect(try await phones.known(id).startTokens.map(\.suspect) == [true])
            phones.stores.clock.advance(by: 10)
            try await phones.put(state, of: id)
            #expect(try await phones.known(id).startTokens.map(\.suspect) == [false])
            phones.stores.clock.advance(by: 10)
            var german = state
            german.locale = "de"
            try await phones.put(german, of: id)
            let row = try await phones.stores.pool.query("select registered_at, reason from start_tokens").first
            #expect(try #require(row).decode(Date.self, "registered_at") == first.addingTimeInterval(10))
            #expect(try #require(row).decode(String?.self, "reason") == nil)
        }
    }

    @Test func `a forgotten installation is removed completely, and may register again with another secret`()
        async throws
    {
        try await withPhones { phones in
            let id = try Phones.id()
            try await phones.stores.put(.sample())
            try await phones.put(Phones.state(5), of: id)
            try await phones.report(of: id, token: "cc")
            try await phones.store.forget(id, secret: Phones.secret)
            try await phones.store.forget(id, secret: "anything")
            for table in ["installations", "start_tokens", "follows", "activities"] {
                #expect(
                    try await phones.stores.count(
                        PostgresQuery(unsafeSQL: "select count(*) as n from \(table)")) == 0, "\(table)")
            }
            #expect(try await phones.put(Phones.state(1), of: id, secret: String(repeating: "n", count: 43)))
        }
    }

    @Test func `statistics have numbers and name no installation`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let ids = try (0..<3).map { _ in try Phones.id() }
            try await phones.put(Phones.state(token: "aa"), of: ids[0])
            try await phones.put(Phones.state(token: "bb", system: "17.4"), of: ids[1])
            var quiet = Phones.state(token: nil)
            (quiet.locale, quiet.liveActivitiesEnabled, quiet.frequentPushesEnabled) = (nil, false, false)
            try await phones.put(quiet, of: ids[2])
            try await phones.stores.pool.query("update start_tokens set suspect_since = now() where token = '\\xbb'")
            try await phones.report(of: ids[0], token: "cc")
            try await phones.report(of: ids[1], .ended, token: "dd")
            let statistics = try await phones.store.statistics(of: .sample())
            #expect(statistics.installations == 3)
            #expect(statistics.systems == ["17": 1, "18": 2])
            #expect(statistics.locales == ["de": 2, "und": 1])
            #expect(statistics.liveActivitiesDisabled == 1)
            #expect(statistics.frequentPushesDisabled == 1)
            #expect(statistics.startTokens == [Phones.type: .init(active: 1, suspect: 1)])
            #expect(statistics.updateTokens == .init(active: 1, suspect: 0))
        }
    }

}

/// What a stranger with an app's device key can add, or find out.
@Suite(.timeLimit(.minutes(20)))
struct DeviceBoundTests {
    @Test func `events without an audience of the app in its environment count as unknown`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            try await phones.stores.put(.sample("theirs", audiences: [.sample("com.example.Other")]))
            let (id, elsewhere) = (try Phones.id(), try Phones.id(in: .development))
            for one in [id, elsewhere] { try await phones.put(Phones.state(token: nil), of: one) }
            try await refuses(.eventNotFound) { try await phones.report(of: id, key: "theirs") }
            try await refuses(.eventNotFound) { try await phones.report(of: elsewhere) }
            #expect(try await phones.report(of: id))
        }
    }

    private func account(_ phones: Phones) async throws -> DeviceAccount {
        try await phones.stores.channels.quotas(now: phones.stores.now, tenure: StoreWorld.tenure)
            .first { $0.environment == .production }?.devices ?? DeviceAccount()
    }

    @Test func `an app's stored total is always the number of its installations`() async throws {
        try await withPhones { phones in
            let ids = try (0..<3).map { _ in try Phones.id() }
            for _ in 0..<2 {
                for id in ids { try await phones.put(Phones.state(token: nil), of: id) }
                #expect(try await account(phones) == DeviceAccount(installations: 3, created: 3))
            }
            try await phones.stores.put(.sample())
            for id in ids { try await phones.report(of: id) }
            let history = PostgresHistory(Database(phones.stores.pool))
            #expect(try await history.prune("activities", before: phones.stores.now + 1, limit: 2) == 2)
            #expect(try await history.prune("hours of device accounts", before: .distantFuture, limit: 500) > 0)
            #expect(try await phones.stores.rows("device_accounts") == 1)
            #expect(try await account(phones).installations == 3)
            try await phones.store.forget(ids[2], secret: Phones.secret)
            phones.stores.clock.advance(by: 86_400)
            try await phones.put(Phones.state(token: nil), of: ids[0])
            let later = phones.stores.now + 1
            // The one that was seen earlier is removed first.
            #expect(try await history.prune("installations", before: later, limit: 1) == 1)
            try await refuses(.installationNotFound) { try await phones.known(ids[1]) }
            #expect(try await history.prune("installations", before: later, limit: 5) == 1)
            #expect(try await account(phones).installations == 0)
        }
    }

    @Test func `the number of new installations of an app per hour is limited`() async throws {
        try await withPhones { phones in
            let store = InstallationStore(Database(phones.stores.pool), mostNew: 2)
            func put(_ id: InstallationID) async throws {
                _ = try await store.put(Phones.state(token: nil), of: id, secret: Phones.secret, now: phones.stores.now)
            }
            let ids = try (0..<3).map { _ in try Phones.id() }
            for id in ids.prefix(2) { try await put(id) }
            try await refuses(.rateLimited) { try await put(ids[2]) }
            try await put(ids[0])
            try await put(try Phones.id(in: .development))
            phones.stores.clock.advance(by: 3_600)
            try await put(ids[2])
            let account = try await account(phones)
            #expect((account.installations, account.created, account.createdBefore) == (3, 1, 2))
        }
    }
}
