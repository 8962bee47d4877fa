internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// The sampling, clock correction and statistics of receipts.
struct ReceiptTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)

    @Test func `the 95th percentile is the smallest value that 95 percent of the values do not exceed`() throws {
        let hundred = try #require(Percentiles(Dictionary(uniqueKeysWithValues: (1...100).map { (Double($0), 1) })))
        #expect([hundred.p50, hundred.p95, hundred.p99] == [50, 95, 99])
        let twenty = try #require(Percentiles(Dictionary(uniqueKeysWithValues: (1...20).map { (Double($0), 1) })))
        #expect([twenty.p50, twenty.p95, twenty.p99] == [10, 19, 20])
        let weighted = try #require(Percentiles([0.1: 900, 5: 99, 60: 1]))
        #expect([weighted.p50, weighted.p95, weighted.p99] == [0.1, 5, 5])
        let one = try #require(Percentiles([3: 1]))
        #expect([one.p50, one.p95, one.p99] == [3, 3, 3])
        #expect(Percentiles([:]) == nil)
        #expect(Percentiles([1: 0]) == nil)
    }

    @Test func `the sample is a fixed share of the installations, whatever the form of their UUIDs`() {
        let counted = (0..<20_000).map { number in
            UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 0xFF)))
        }
        for ids in [counted, (0..<20_000).map { _ in UUID() }] {
            let tenth = ReceiptSampling(share: 0.1)
            let chosen = ids.filter(tenth.includes)
            #expect((1_800...2_200).contains(chosen.count))
            // A larger share includes the installations of a smaller one.
            #expect(chosen.allSatisfy(ReceiptSampling(share: 0.2).includes))
            #expect(ids.allSatisfy(ReceiptSampling(share: 1).includes))
            #expect(!ids.contains(where: ReceiptSampling(share: 0).includes))
        }
    }

    @Test func `a phone's clock error is corrected by the time it sends with its receipts`() throws {
        let key = try #require(EventKey(rawValue: "match-1"))
        let receipt = Receipt(eventKey: key, timestamp: 5, shownAt: Self.start.addingTimeInterval(3_600))
        let corrected = ReceiptBatch(
            [receipt], sentAt: Self.start.addingTimeInterval(3_610), arrivedAt: Self.start.addingTimeInterval(20))
        #expect(corrected.clockAhead == 3_590)
        #expect(corrected.shownAt(receipt) == Self.start.addingTimeInterval(10))
        let unknown = ReceiptBatch([receipt], sentAt: nil, arrivedAt: Self.start)
        #expect(unknown.clockAhead == nil)
        #expect(unknown.shownAt(receipt) == receipt.shownAt)
    }

    @Test func `a report separates outliers and names the newest state`() throws {
        func tally(_ timestamp: Int, _ seconds: Double, _ count: Int, known: Bool = true) -> ReceiptReport.Tally {
            .init(
                timestamp: timestamp, shownAt: Self.start.addingTimeInterval(seconds), isClockKnown: known, count: count
            )
        }
        let report = ReceiptReport(
            sample: 40,
            sent: [
                .init(broadcast: UUID(), timestamp: 100, acceptedAt: Self.start, isAccepted: true),
                .init(
                    broadcast: UUID(), timestamp: 101, acceptedAt: Self.start.addingTimeInterval(60), isAccepted: true),
                .init(
                    broadcast: UUID(), timestamp: 102, acceptedAt: Self.start.addingTimeInterval(90),
                    isAccepted: false),
            ],
            tallies: [
                tally(100, 0.5, 10), tally(100, 2, 9), tally(100, 30, 1), tally(100, 7_200, 3, known: false),
                tally(100, -5, 2), tally(101, 60.8, 4), tally(101, 59.9, 1), tally(90, 5, 7),
            ])
        #expect(report.sample == 40)
        #expect(report.messages.map(\.timestamp) == [90, 100, 101, 102])
        let start = report.messages[0]
        #expect(start.acceptedAt == nil && start.shown == 7 && start.seconds == nil)
        let first = report.messages[1]
        #expect(first.shown == 25 && first.clockUnknown == 3 && first.shownEarly == 2)
        #expect(first.seconds?.p50 == 0.5 && first.seconds?.p95 == 2 && first.seconds?.p99 == 30)
        #expect(report.newest?.timestamp == 101)
        #expect(report.newest?.shown == 5)
        #expect(report.messages[3].shown == 0)
        #expect(ReceiptReport(sample: 0, sent: [], tallies: []).newest == nil)
    }

    @Test func `the newest state counts once, however it was sent`() {
        let (old, new) = (UUID(), UUID())
        func tally(_ timestamp: Int, _ count: Int) -> ReceiptReport.Tally {
            .init(timestamp: timestamp, shownAt: Self.start.addingTimeInterval(61), isClockKnown: true, count: count)
        }
        let sent = [(old, 100, 0.0), (new, 160, 60), (old, 161, 0), (new, 162, 60)].map {
            broadcast, timestamp, seconds in
            ReceiptReport.Sent(
                broadcast: broadcast, timestamp: timestamp, acceptedAt: Self.start.addingTimeInterval(seconds),
                isAccepted: true)
        }
        let report = ReceiptReport(
            sample: 9, sent: sent, tallies: [tally(100, 1), tally(160, 2), tally(161, 1), tally(162, 3), tally(163, 1)])
        // Tokens that joined later got the newest state with their own timestamp, 163. They count as shown, but have no
        // delay.
        #expect(report.newest?.shown == 6 && report.newest?.timestamp == 162)
        #expect(report.newest?.acceptedAt == Self.start.addingTimeInterval(60) && report.newest?.seconds?.p99 == 1)
        #expect(report.messages.map(\.shown) == [1, 2, 1, 3, 1])
    }
}
