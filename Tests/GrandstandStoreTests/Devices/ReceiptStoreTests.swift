internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// Receipts on PostgreSQL: the messages that were sent, compared with those that phones showed.
@Suite(.timeLimit(.minutes(20)))
struct ReceiptStoreTests {
    @Test func `receipts are compared with the sent messages by corrected clocks, within reach`() async throws {
        try await withPhones { phones in
            let stores = phones.stores
            let key = try await stores.open()
            try await stores.accept(.update())
            let first = try await stores.sendOne().timestamp
            let accepted = stores.now
            stores.clock.advance(by: 60)
            try await stores.accept(.update())
            let second = try await stores.sendOne().timestamp
            let ids = try (0..<3).map { _ in try Phones.id() }
            for (number, id) in ids.enumerated() {
                try await phones.put(Phones.state(token: "a\(number)"), of: id)
                try await phones.report(of: id)
            }
            // The clock of this phone is two minutes ahead.
            let ahead = ReceiptBatch(
                [
                    Receipt(eventKey: key, timestamp: first, shownAt: accepted + 121),
                    Receipt(eventKey: key, timestamp: second, shownAt: accepted + 183),
                    Receipt(eventKey: try .sample("none"), timestamp: 5, shownAt: accepted),
                ], sentAt: stores.now + 120, arrivedAt: stores.now)
            for _ in 0..<2 {
                #expect(
                    try await phones.store.record(ahead, of: ids[0], secret: Phones.secret, now: stores.now) == 2)
            }
            // Receipts without `sentAt`, whose times the app must correct itself. The times of the last phone were not
            // corrected.
            for (id, delay) in [(ids[1], 2.0), (ids[2], 3_600)] {
                let receipt = Receipt(eventKey: key, timestamp: first, shownAt: accepted + delay)
                let silent = ReceiptBatch([receipt], sentAt: nil, arrivedAt: stores.now)
                #expect(try await phones.store.record(silent, of: id, secret: Phones.secret, now: stores.now) == 1)
            }
            let reports = try await phones.store.receipts(of: key, within: .all)
            #expect(reports.map(\.app) == [try .sample()])
            let report = try #require(reports.first?.report)
            #expect(report.sample == 3)
            #expect(report.messages.map(\.timestamp) == [first, second])
            #expect(report.messages.map(\.shown) == [3, 1])
            #expect(report.messages.map(\.clockUnknown) == [1, 0])
            #expect(report.messages.map(\.acceptedAt) == [accepted, accepted + 60])
            #expect(report.messages.map(\.seconds?.p50) == [1, 3])
            #expect(report.messages.map(\.seconds?.p99) == [2, 3])
            #expect(report.newest?.shown == 1)
            let others = AppReach.only([try .sample("com.example.Other")])
            try await refuses(.eventNotFound) { try await phones.store.receipts(of: key, within: others) }
        }
    }
}
