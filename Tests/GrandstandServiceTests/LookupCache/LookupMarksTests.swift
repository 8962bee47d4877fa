internal import Grandstand
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct LookupMarksTests {
    private func key(_ text: String) throws -> EventKey { try #require(EventKey(rawValue: text)) }

    @Test func `a mark ends with a reading that began after it, and with no other`() throws {
        let marks = LookupMarks(patience: .seconds(60))
        let (derby, cup) = (try key("derby"), try key("cup"))
        let early = marks.reading()
        marks.mark([derby])
        #expect(marks.contain(derby))
        #expect(!marks.contain(cup))
        marks.remove([derby], after: early)
        #expect(marks.contain(derby))
        let late = marks.reading()
        // It changes again while it is being read.
        marks.mark([derby])
        marks.remove([derby], after: late)
        #expect(marks.contain(derby))
        marks.remove([derby], after: marks.reading())
        #expect(!marks.contain(derby))
    }

    @Test func `a lookup waits for earlier changes, not for later ones`() async throws {
        let marks = LookupMarks(patience: .seconds(60))
        let derby = try key("derby")
        #expect(await marks.areRead(of: derby))
        marks.mark([derby])
        let reading = marks.reading()
        async let isRead = marks.areRead(of: derby)
        while marks.waitingCount == 0 { await Task.yield() }
        marks.mark([derby])
        marks.remove([derby], after: reading)
        let wasRead = await isRead
        #expect(wasRead)
        #expect(marks.contain(derby))
    }

    @Test func `a lookup waits for an event that cannot be read only until its time limit`() async throws {
        let marks = LookupMarks(patience: .milliseconds(1))
        let derby = try key("derby")
        marks.mark([derby])
        #expect(await marks.areRead(of: derby) == false)
        #expect(marks.contain(derby))
        #expect(marks.waitingCount == 0)
    }
}
