internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// The sampling, clock correction and statistics of receipts.
struct ReceiptTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)

    @Test func `the 95th percentile is the smallest value that 95 percent of the values do not exceed`() throws {
        let hundred = try #require(Percentiles(Dictionary(uniqueKeysWithValues: (1...100).map { (Double($0), 1) })))
        #expect([hundred.p50, hundred.p95, hundred.p99] == [50, 95, 99])
        let weighted = try #require(Percentiles([0.1: 900, 5: 99, 60: 1]))
        #expect([weighted.p50, weighted.p95, weighted.p99] == [0.1, 5, 5])
        #expect(Percentiles([1: 0]) == nil)
    }

    @Test func `the sample is a fixed share of the installations, whatever the form of their UUIDs`() {
        let ids = (0..<20_000).map { number in
            UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 0xFF)))
        }
        let chosen = ids.filter(ReceiptSampling(share: 0.1).includes)
        #expect((1_800...2_200).contains(chosen.count))
        // A larger share includes the installations of a smaller one.
        #expect(chosen.allSatisfy(ReceiptSampling(share: 0.2).includes))
        #expect(ids.allSatisfy(ReceiptSampling(share: 1).includes))
        #expect(!ids.contains(where: ReceiptSampling(share: 0).includes))
    }

    @Test func `a phone's clock error is corrected by the time it sends with its receipts`() throws {
        let key = try #require(EventKey(rawValue: "match-1"))
        let receipt = Receipt(eventKey: key, timestamp: 5, shownAt: Self.start.addingTimeInterval(3_600))
        let corrected = ReceiptBatch(
            [receipt], sentAt: Self.start.addingTimeInterval(3_610), arrivedAt: Self.start.addingTimeInterval(20))
        #expect(corrected.shownAt(receipt) == Self.start.addingTimeInterval(10))
        #expect(ReceiptBatch([receipt], sentAt: nil, arrivedAt: Self.start).shownAt(receipt) == receipt.shownAt)
    }

    @Test func `a report separates outliers and names the newest state, which counts once however it was sent`() {
        let (old, new) = (UUID(), UUID())
        func tally(_ timestamp: Int, _ seconds: Double, _ count: Int, known: Bool = true) -> ReceiptReport.Tally {
            .init(
                timestamp: timestamp, shownAt: Self.start.addingTimeInterval(seconds), isClockKnown: known, count: count
            )
        }
        let report = ReceiptReport(
            sample: 40,
            sent: [(old, 100, 0.0, true), (new, 160, 60, true), (new, 162, 60, true), (UUID(), 170, 90, false)].map {
                ReceiptReport.Sent(
                    broadcast: $0, timestamp: $1, acceptedAt: Self.start.addingTimeInterval($2), isAccepted: $3)
            },
            tallies: [
                tally(100, 0.5, 10), tally(100, 2, 9), tally(100, 30, 1), tally(100, 7_200, 3, known: false),
                tally(100, -5, 2), tally(160, 60.8, 2), tally(162, 61, 3), tally(90, 5, 7),
            ])
        #expect(report.messages.map(\.timestamp) == [90, 100, 160, 162, 170])
        let first = report.messages[1]
        #expect(first.shown == 25 && first.clockUnknown == 3 && first.shownEarly == 2)
        #expect(first.seconds?.p50 == 0.5 && first.seconds?.p95 == 2 && first.seconds?.p99 == 30)
        #expect(report.newest?.timestamp == 162 && report.newest?.shown == 5)
        #expect(ReceiptReport(sample: 0, sent: [], tallies: []).newest == nil)
    }
}
