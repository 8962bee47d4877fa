internal import APNsWire
internal import JSON
internal import Testing

@testable internal import APNsSimulator

struct JournalTests {
    @Test func `a journal keeps the newest entries, within its capacity and 32 MB, and goes on counting`() {
        for (capacity, body, kept) in [(3, 10, 3), (0, 10, 0), (100, 8 << 20, 3)] {
            var journal = Journal(capacity: capacity)
            for _ in 1...5 { journal.record(Self.entry(Array(repeating: 0x20, count: body))) }
            #expect(journal.entries.map(\.number) == Array((6 - kept)..<6))
            #expect(journal.entries(after: 4).map(\.number) == (kept > 0 ? [5] : []))
            journal.removeAll()
            #expect(journal.entries(after: 0).isEmpty)
            journal.record(Self.entry([]))
            #expect(journal.recorded == 6)
        }
    }

    @Test func `an entry is written with nulls for what it does not have`() {
        let text = String(decoding: JSONWriter.text(Self.entry([0x7B, 0x7D])), as: UTF8.self)
        #expect(
            text
                == #"{"number":0,"time":1780000000,"environment":"production","host":"send","connection":3,"method":"POST","path":"/x","operation":null,"headers":[{"name":"a","value":"1"},{"name":"a","value":""}],"body":"{}","bodyIsCut":false,"status":404,"reason":"BadPath","requestId":"id","fate":"answered","fault":null}"#
        )
    }

    private static func entry(_ body: [UInt8]) -> JournalEntry {
        JournalEntry(
            time: Bench.now,
            request: SimulatorRequest(
                environment: .production, service: .send, connection: 3, method: "POST", path: "/x",
                headers: [.init("a", "1"), .init("a", "")], body: body),
            operation: nil, status: 404, reason: .badPath, requestID: "id", fate: .answered, fault: nil)
    }
}
