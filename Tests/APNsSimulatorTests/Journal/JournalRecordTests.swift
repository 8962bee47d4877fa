internal import APNsWire
internal import Foundation
internal import Testing

@testable internal import APNsSimulator

/// The compact form of journal entries.
struct JournalRecordTests {
    @Test func `an entry is the same after it was stored, with empty texts, long texts and duplicate headers`() {
        for headers in [[], [("a", ""), ("a", "1"), ("apns-id", String(repeating: "⚽", count: 500))]] {
            let entry = JournalEntry(
                number: 7, time: Bench.now,
                request: SimulatorRequest(
                    environment: .production, service: .send, connection: 3, method: "POST", path: "/3/device/ab",
                    headers: headers.map { .init($0.0, $0.1) }, body: [0, 255], bodyIsCut: true),
                operation: .device, status: 429, reason: .tooManyRequests, requestID: headers.isEmpty ? "" : "id",
                fate: .held, fault: "flaky")
            let record = JournalRecord(entry)
            #expect(record.entry == entry)
            #expect(record.size > entry.request.body.count)
        }
    }
}
