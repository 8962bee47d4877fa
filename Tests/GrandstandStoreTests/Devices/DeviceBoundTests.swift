internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// What a stranger with the key of an app can make grow, or learn.
@Suite(.timeLimit(.minutes(2)))
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

    /// Receipts that were recorded before, as rows.
    private func seed(_ count: Int, of key: EventKey, by id: InstallationID, _ phones: Phones) async throws {
        let first = Int(phones.stores.now.timeIntervalSince1970) - 10_000
        try await phones.stores.pool.query(
            """
            insert into receipts (event_key, app, installation, apns_timestamp, shown_at, clock_ahead, received_at)
            select \(key.rawValue), i.app, i.id, \(first) + n, \(phones.stores.now), 0, \(phones.stores.now)
            from installations i, generate_series(1, \(count)) n where i.installation = \(id.id)
            """)
    }

    @Test func `events without an audience of the app in its environment are as unknown as none`() async throws {
        try await withPhones { phones in
            let own = try await phones.stores.put(.sample()).specification.key
            try await phones.stores.put(.sample("theirs", audiences: [.sample("com.example.Other")]))
            let theirs = try EventKey.sample("theirs")
            let (id, elsewhere) = (try Phones.id(), try Phones.id(in: .development))
            for one in [id, elsewhere] { try await phones.put(Phones.state(token: nil), of: one) }
            #expect(try await problem { try await phones.report(of: id, key: "theirs") } == .eventNotFound)
            #expect(try await problem { try await phones.report(of: elsewhere) } == .eventNotFound)
            #expect(try await phones.report(of: id))
            let timestamp = Int(phones.stores.now.timeIntervalSince1970)
            #expect(try await record([timestamp], of: theirs, by: id, phones) == 0)
            #expect(try await record([timestamp], of: own, by: elsewhere, phones) == 0)
            #expect(try await record([timestamp], of: own, by: id, phones) == 1)
            #expect(try await phones.stores.count("select count(*) as n from receipts") == 1)
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
            #expect(try await phones.stores.count("select count(*) as n from receipts") == 3)
        }
    }

    @Test func `receipts of one installation have a number, by event and in all; those that are known count on`()
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
            // Two of three are recorded, a repeat and what is known changes nothing.
            let items = [now, now, now - 9_999, now + 1, now + 2]
            #expect(try await record(items, of: keys[0], by: id, phones) == 4)
            #expect(try await record(items, of: keys[0], by: id, phones) == 4)
            let ofEvent = "select count(*) as n from receipts" as PostgresQuery
            #expect(try await phones.stores.count(ofEvent) == ReceiptBounds.ofEvent)
            for key in keys[1..<10] { try await seed(ReceiptBounds.ofEvent, of: key, by: id, phones) }
            #expect(try await record([now], of: keys[10], by: id, phones) == 0)
            #expect(try await record([now], of: keys[10], by: other, phones) == 1)
            #expect(try await phones.stores.count(ofEvent) == ReceiptBounds.ofInstallation + 1)
        }
    }

    @Test func `of messages that no broadcast made the most shown are told, and no other's`() async throws {
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

    @Test func `an installation that is forgotten has no receipts`() async throws {
        try await withPhones { phones in
            let key = try await phones.stores.put(.sample()).specification.key
            let id = try Phones.id()
            try await phones.put(Phones.state(), of: id)
            try await seed(5, of: key, by: id, phones)
            try await phones.store.forget(id, secret: Phones.secret)
            #expect(try await phones.stores.count("select count(*) as n from receipts") == 0)
        }
    }
}
