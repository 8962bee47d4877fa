internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

/// Registrations on PostgreSQL.
@Suite(.timeLimit(.minutes(20)))
struct RegistrationTests {
    @Test func `an unknown app, another installation or a wrong secret is refused and changes nothing`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let id = try Phones.id()
            let state = Phones.state(3)
            try await phones.put(state, of: id)
            var elsewhere = id
            elsewhere.bundleID = try .sample("com.example.None")
            let wrong = String(repeating: "x", count: 43)
            let other = Phones.state(9, topics: ["team:b"])
            let store = phones.store
            try await refuses(.appNotFound) { try await phones.put(state, of: elsewhere) }
            try await refuses(.wrongInstallationSecret) { try await phones.put(other, of: id, secret: wrong) }
            try await refuses(.wrongInstallationSecret) { try await store.installation(id, secret: wrong) }
            try await refuses(.wrongInstallationSecret) { try await store.forget(id, secret: wrong) }
            try await refuses(.wrongInstallationSecret) { try await store.forget(activity: "a", of: id, secret: wrong) }
            try await refuses(.installationNotFound) { try await phones.known(Phones.id()) }
            try await refuses(.installationNotFound) { try await phones.report(of: Phones.id()) }
            // The same UUID in the other environment is another installation.
            try await refuses(.installationNotFound) { try await phones.known(Phones.id(id.id, in: .development)) }
            try await refuses(.staleInstallation) { try await phones.put(Phones.state(2), of: id) }
            let known = try await phones.known(id)
            #expect((known.sequence, known.topics, known.startTokens.count) == (3, ["team:a"], 1))
            // Events without an audience of the app in its environment count as unknown.
            try await phones.stores.put(.sample(audiences: [.sample("com.example.Other")]), as: "theirs")
            for key in ["theirs", "none"] {
                try await refuses(.eventNotFound) { try await phones.report(of: id, key: key) }
            }
            let developer = try Phones.id(in: .development)
            try await phones.put(Phones.state(token: nil), of: developer)
            try await refuses(.eventNotFound) { try await phones.report(of: developer) }
            #expect(try await phones.report(of: id))
        }
    }

    @Test func `concurrent registrations and reports are answered one by one`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let ids = try (0..<150).map { _ in try Phones.id() }
            func created(_ call: @escaping @Sendable (Int, Int) async throws -> Bool) async throws -> Int {
                try await concurrently(600) { try await call($0 % 150, $0 / 150) }.count { $0 }
            }
            let registered = try await created { number, _ in
                try await phones.put(Phones.state(1, token: "00\(1_000 + number)"), of: ids[number])
            }
            let reported = try await created { try await phones.report("activity-\($1 % 2)", of: ids[$0]) }
            #expect((registered, reported) == (150, 300))
            let tables = ["installations": 150, "start_tokens": 150, "follows": 150, "activities": 300]
            #expect(try await phones.stores.filled(Array(tables.keys)) == tables)
        }
    }

    /// Two stores act as two replicas, so their calls are not combined into one batch.
    @Test func `after concurrent registrations on several replicas each token has one owner`() async throws {
        try await withPhones { phones in
            let replicas = [phones, Phones(phones.stores)]
            let ids = try (0..<6).map { _ in try Phones.id() }
            // In each of the 28 rounds a token moves to the next installation.
            _ = try await concurrently(28 * 6) { call in
                let (round, number) = (call / 6, call % 6)
                let state = Phones.state(token: "aa0\((round + number) % 4)")
                return try await replicas[(round + number) % 2].put(state, of: ids[number])
            }
            #expect(try await phones.stores.rows("installations") == 6)
            #expect(
                try await phones.stores.count("select count(*) - count(distinct token) as n from start_tokens") == 0)
        }
    }

    @Test func `a token keeps its time until it is registered after a refusal, or is forgotten`() async throws {
        try await withPhone { phones, id in
            let state = Phones.state()
            let first = phones.stores.now
            try await phones.stores.pool.query("update start_tokens set suspect_since = now()")
            #expect(try await phones.known(id).startTokens.map(\.suspect) == [true])
            phones.stores.clock.advance(by: 10)
            try await phones.put(state, of: id)
            #expect(try await phones.known(id).startTokens.map(\.suspect) == [false])
            phones.stores.clock.advance(by: 10)
            var german = state
            german.locale = "de"
            try await phones.put(german, of: id)
            let row = try await phones.stores.pool.query("select registered_at from start_tokens").first
            #expect(try #require(row).decode(Date.self, "registered_at") == first.addingTimeInterval(10))
            try await phones.put(Phones.state(5), of: id)
            try await phones.report(of: id, token: "cc")
            try await phones.store.forget(id, secret: Phones.secret)
            try await phones.store.forget(id, secret: "anything")
            #expect(
                try await phones.stores.filled(["installations", "start_tokens", "follows", "activities"]) == [:])
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
            #expect(statistics.installations == 3 && statistics.systems == ["17": 1, "18": 2])
            #expect(statistics.locales == ["de": 2, "und": 1])
            #expect(statistics.liveActivitiesDisabled == 1 && statistics.frequentPushesDisabled == 1)
            #expect(statistics.startTokens == [Phones.type: .init(active: 1, suspect: 1)])
            #expect(statistics.updateTokens == .init(active: 1, suspect: 0))
        }
    }
}

/// What a stranger with an app's device key can add, or find out.
@Suite(.timeLimit(.minutes(20)))
struct DeviceBoundTests {
    private func account(_ phones: Phones) async throws -> InstallationTotals {
        try await phones.stores.quota().devices
    }

    @Test(arguments: [
        (InstallationTotals(installations: 999, created: 999), false),
        (InstallationTotals(installations: 1_000, created: 1_000), true),
        (InstallationTotals(installations: 11_000, created: 1_000), true),
        (InstallationTotals(installations: 11_001, created: 1_000), false),
        (InstallationTotals(installations: 5_000_000, created: 500_000), true),
    ])
    func `the limit of new installations is a thousand and a tenth of the known ones`(
        account: InstallationTotals, isSurging: Bool
    ) {
        #expect(account.isSurging == isSurging)
    }

    @Test func `an app's stored total is always the number of its installations`() async throws {
        try await withPhones { phones in
            let ids = try (0..<3).map { _ in try Phones.id() }
            for _ in 0..<2 {
                for id in ids { try await phones.put(Phones.state(token: nil), of: id) }
                #expect(try await account(phones) == InstallationTotals(installations: 3, created: 3))
            }
            try await phones.stores.put(.sample())
            for id in ids { try await phones.report(of: id) }
            let history = Database(phones.stores.pool)
            #expect(try await history.prune("activities", before: phones.stores.now + 1, limit: 2) == 2)
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
            #expect((account.installations, account.created) == (3, 1))
        }
    }
}

/// What a registration changes, compared with what the tables have.
struct RegistrationRuleTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private static let secret = SecretHash(of: Phones.secret)

    /// The change of an installation that was seen at `start`; `nil`: there is none.
    private static func change(
        from old: Contract.InstallationDraft, to new: Contract.InstallationDraft, after seconds: Double = 60
    ) throws -> Registration? {
        var registration = Registration(
            of: try Phones.id(), secretHash: secret, new, unlessNew: nil, now: start.addingTimeInterval(seconds))
        (registration.row.state, registration.row.secretHash, registration.row.seenAt) = (old, secret, start)
        return try registration.decide(mostNew: 0) ? registration : nil
    }

    @Test(arguments: [(86_399.0, 4, false), (86_400, 4, true), (60, 5, true), (60, nil, false)])
    func `a registration without changes writes nothing, except its row once a day or for a higher sequence`(
        seconds: Double, sequence: Int?, isWritten: Bool
    ) throws {
        let change = try Self.change(from: Phones.state(4), to: Phones.state(sequence), after: seconds)
        #expect(change?.draft.sequence == (isWritten ? sequence : nil))
        #expect(change?.newTokens.isEmpty != false && change?.removedTokens.isEmpty != false)
    }

    @Test func `spelling and order are no change`() throws {
        var (old, new) = (Phones.state(token: "aabb", topics: ["team:a", "team:b"]), Phones.state(token: "AAbb"))
        old.startTokens?.append(.init(attributesType: "Zebra", token: "cc"))
        new.startTokens?.insert(.init(attributesType: "Zebra", token: "CC"), at: 0)
        (new.systemVersion, new.topics) = ("18.4.1", ["team:b", "team:a", "team:b"])
        (new.liveActivitiesEnabled, new.frequentPushesEnabled) = (nil, nil)
        #expect(try Self.change(from: old, to: new) == nil)
    }

    @Test func `no two of a round have a name in common, and those that have one keep their order`() async throws {
        let all = ["ab", "bc", "d", "c", "a", "d", "e"]
        var rounds: [[String]] = []
        let outputs = try await all.inRounds {
            Set($0)
        } _: { round in
            rounds.append(round)
            return round.map { $0 + "!" }
        }
        #expect(rounds == [["ab", "d", "e"], ["bc", "a", "d"], ["c"]])
        #expect(outputs == all.map { $0 + "!" })
    }
}
