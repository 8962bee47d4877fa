internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// What a stranger with an app's device key can add, or find out.
@Suite(.timeLimit(.minutes(20)))
struct DeviceBoundTests {
    /// Receipts of an event by the sample installation, at these timestamps.
    private func record(
        _ timestamps: [Int], of key: EventKey, by id: InstallationID, _ phones: Phones
    ) async throws -> Int {
        let now = phones.stores.now
        return try await phones.store.record(
            ReceiptBatch(
                timestamps.map { Receipt(eventKey: key, timestamp: $0, shownAt: now) }, sentAt: now, arrivedAt: now),
            of: id, secret: Phones.secret, now: now)
    }

    /// Rows of receipts that were recorded earlier.
    private func seed(_ count: Int, of key: EventKey, by id: InstallationID, _ phones: Phones) async throws {
        let first = Int(phones.stores.now.timeIntervalSince1970) - 10_000
        try await phones.stores.pool.query(
            """
            insert into receipts (event_key, app, installation, apns_timestamp, shown_at, clock_ahead, received_at)
            select \(key.rawValue), i.app, i.id, \(first) + n, \(phones.stores.now), 0, \(phones.stores.now)
            from installations i, generate_series(1, \(count)) n where i.installation = \(id.id)
            """)
    }

    @Test func `events without an audience of the app in its environment count as unknown`() async throws {
        try await withPhones { phones in
            let own = try await phones.stores.put(.sample()).specification.key
            try await phones.stores.put(.sample("theirs", audiences: [.sample("com.example.Other")]))
            let theirs = try EventKey.sample("theirs")
            let (id, elsewhere) = (try Phones.id(), try Phones.id(in: .development))
            for one in [id, elsewhere] { try await phones.put(Phones.state(token: nil), of: one) }
            try await refuses(.eventNotFound) { try await phones.report(of: id, key: "theirs") }
            try await refuses(.eventNotFound) { try await phones.report(of: elsewhere) }
            #expect(try await phones.report(of: id))
            let timestamp = Int(phones.stores.now.timeIntervalSince1970)
            #expect(try await record([timestamp], of: theirs, by: id, phones) == 0)
            #expect(try await record([timestamp], of: own, by: elsewhere, phones) == 0)
            #expect(try await record([timestamp], of: own, by: id, phones) == 1)
            #expect(try await phones.stores.rows("receipts") == 1)
        }
    }

    @Test func `a timestamp that no message of the event can have is not recorded`() async throws {
        try await withPhones { phones in
            let key = try await phones.stores.put(.sample()).specification.key
            let id = try Phones.id()
            try await phones.put(Phones.state(), of: id)
            let now = Int(phones.stores.now.timeIntervalSince1970)
            let recorded = try await record(
                [0, now - 90_000, now - 80_000, now, now + 3_000, now + 4_000, 4_102_444_800], of: key, by: id, phones)
            #expect(recorded == 3)
            #expect(try await phones.stores.rows("receipts") == 3)
        }
    }

    @Test func `the receipts of an installation are limited by event and in total, and known ones count`()
        async throws
    {
        try await withPhones { phones in
            let keys = try (0...10).map { try EventKey.sample("match-\($0)") }
            for key in keys { try await phones.stores.put(.sample(key.rawValue)) }
            let (id, other) = (try Phones.id(), try Phones.id())
            try await phones.put(Phones.state(token: "a1"), of: id)
            try await phones.put(Phones.state(token: "a2"), of: other)
            let now = Int(phones.stores.now.timeIntervalSince1970)
            try await seed(ReceiptBounds.ofEvent - 2, of: keys[0], by: id, phones)
            // Of the three new receipts, two are recorded, up to the limit. The repeated receipt and the known receipt
            // change nothing.
            let items = [now, now, now - 9_999, now + 1, now + 2]
            #expect(try await record(items, of: keys[0], by: id, phones) == 4)
            #expect(try await record(items, of: keys[0], by: id, phones) == 4)
            #expect(try await phones.stores.rows("receipts") == ReceiptBounds.ofEvent)
            for key in keys[1..<10] { try await seed(ReceiptBounds.ofEvent, of: key, by: id, phones) }
            #expect(try await record([now], of: keys[10], by: id, phones) == 0)
            #expect(try await record([now], of: keys[10], by: other, phones) == 1)
            #expect(try await phones.stores.rows("receipts") == ReceiptBounds.ofInstallation + 1)
        }
    }

    @Test func `of receipts for unknown messages only the most frequent ones are reported`() async throws {
        try await withPhones { phones in
            let key = try await phones.stores.open()
            try await phones.stores.accept(.update())
            let sent = try await phones.stores.sendOne().timestamp
            let ids = try (0..<2).map { _ in try Phones.id() }
            for (number, id) in ids.enumerated() {
                try await phones.put(Phones.state(token: "a\(number)"), of: id)
            }
            try await seed(150, of: key, by: ids[0], phones)
            let most = Int(phones.stores.now.timeIntervalSince1970) - 9_999
            #expect(try await record([most, sent], of: key, by: ids[1], phones) == 2)
            let report = try #require(try await phones.store.receipts(of: key, within: .all).first?.report)
            #expect(report.messages.count == ReceiptBounds.otherMessages + 1)
            #expect(report.messages.first { $0.timestamp == most }?.shown == 2)
            #expect(report.newest?.timestamp == sent)
        }
    }

    private func account(_ phones: Phones) async throws -> DeviceAccount {
        try await phones.stores.channels.quotas(now: phones.stores.now, tenure: Stores.tenure)
            .first { $0.environment == .production }?.devices ?? DeviceAccount()
    }

    /// A registration with texts that compress badly.
    private static func state(topics: Int, of length: Int, tokens: Int, _ bytes: Int) throws -> InstallationState {
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
        func text(_ count: Int) -> String { String((0..<count).compactMap { _ in letters.randomElement() }) }
        return InstallationState(
            systemVersion: SystemVersion(18),
            startTokens: Dictionary(
                uniqueKeysWithValues: try (0..<tokens).map { _ in
                    (
                        text(min(200, bytes)),
                        try #require(DeviceToken(bytes: (0..<bytes).map { _ in .random(in: 0...255) }))
                    )
                }),
            topics: Set(try (0..<topics).map { _ in try #require(Topic(rawValue: text(length))) }))
    }

    @Test func `an app's stored totals are always the sum of what its installations use`() async throws {
        try await withPhones { phones in
            let key = try await phones.stores.put(.sample()).specification.key
            let ids = try (0..<3).map { _ in try Phones.id() }
            var states = try (0..<3).map { try Self.state(topics: 5 + $0, of: 20, tokens: 2, 32) }
            func expectSum(receipts: Int = 0) async throws {
                let account = try await account(phones)
                #expect(account.installations == ids.count)
                #expect(
                    account.bytes
                        == states.reduce(0) { $0 + $1.bytes } + receipts * DeviceBounds.bytes(ofReceiptFor: key))
            }
            for (id, state) in zip(ids, states) { try await phones.put(state, of: id) }
            try await expectSum()
            #expect(try await account(phones).created == 3)
            states[0] = try Self.state(topics: 2, of: 128, tokens: 3, 100)
            // The second installation takes over the tokens of the first.
            states[1].startTokens = states[0].startTokens
            try await phones.put(states[0], of: ids[0])
            try await phones.put(states[1], of: ids[1])
            states[0].startTokens = [:]
            try await expectSum()
            let now = Int(phones.stores.now.timeIntervalSince1970)
            #expect(try await record([now, now + 1, now], of: key, by: ids[2], phones) == 3)
            try await expectSum(receipts: 2)
            let history = PostgresHistory(Database(phones.stores.pool))
            #expect(try await history.prune(.deviceHours, before: .distantFuture, limit: 500) > 0)
            #expect(try await phones.stores.rows("device_accounts") == 1)
            try await expectSum(receipts: 2)
            try await phones.store.forget(ids[2], secret: Phones.secret)
            let later = phones.stores.now + 1
            #expect(try await history.prune(.installations, before: later, limit: 1) == 1)
            #expect(try await history.prune(.installations, before: later, limit: 5) == 1)
            let left = try await account(phones)
            #expect((left.installations, left.bytes) == (0, 0))
        }
    }

    @Test func `greedy installations reach the estimated limit, and others are still registered`() async throws {
        try await withPhones { phones in
            let key = try await phones.stores.put(.sample()).specification.key
            let ids = try (0..<200).map { _ in try Phones.id() }
            var refused = 0
            for id in ids {
                let greedy = try Self.state(topics: 200, of: 128, tokens: 20, 512)
                do {
                    try await phones.put(greedy, of: id)
                } catch let problem as Problem {
                    #expect(problem.kind == .rateLimited)
                    refused += 1
                    try await phones.put(Self.state(topics: 4, of: 128, tokens: 0, 0), of: id)
                }
            }
            #expect((170..<190).contains(refused))
            let now = Int(phones.stores.now.timeIntervalSince1970)
            for id in ids {
                _ = try await record((0..<100).map { now + $0 }, of: key, by: id, phones)
                for number in 0..<2 {
                    let token = id.id.uuidString.filter { $0 != "-" } + String(repeating: "c\(number)", count: 400)
                    try await phones.report(
                        "\(number)" + String(repeating: "a", count: 127), of: id, token: token,
                        channelID: String(repeating: "ä", count: 200))
                    phones.stores.clock.advance(by: 1)
                }
            }
            let account = try await account(phones)
            #expect(account.bytes < account.limit + 100 * 300)
            let size = try await phones.stores.count(
                """
                select sum(pg_total_relation_size(t::regclass))::bigint as n from unnest(array['installations', 'follows',
                    'start_tokens', 'receipts', 'activities', 'device_accounts', 'fan_out_queue']) t
                """)
            // Each table and index has a page or two that are not full, and a free space map.
            #expect(size < account.limit + ids.count * DeviceBounds.ofActivities + 1_500_000)
            try await phones.put(Phones.state(token: "ab"), of: try Phones.id())
            #expect(try await phones.stores.put(.sample("other")).specification.key.rawValue == "other")
        }
    }

    @Test func `the number of new installations of an app per hour is limited`() async throws {
        try await withPhones { phones in
            let store = PostgresInstallationStore(Database(phones.stores.pool), mostNew: 2)
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
