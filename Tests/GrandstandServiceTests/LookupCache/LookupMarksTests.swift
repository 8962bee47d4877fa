internal import Grandstand
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct LookupMarksTests {
    private func contains(_ marks: LookupMarks, _ key: String) -> Bool {
        Array(key.utf8).withUnsafeBytes { marks.contain($0) }
    }

    private func key(_ text: String) throws -> EventKey { try #require(EventKey(rawValue: text)) }

    @Test func `a mark goes with a reading that began after it, and with no other`() throws {
        let marks = LookupMarks(patience: .seconds(60))
        let derby = try key("derby")
        let early = marks.reading()
        marks.mark([derby])
        #expect(contains(marks, "derby"))
        #expect(!contains(marks, "cup"))
        marks.remove([derby], after: early)
        #expect(contains(marks, "derby"))
        let late = marks.reading()
        // Changed again while it is being read.
        marks.mark([derby])
        marks.remove([derby], after: late)
        #expect(contains(marks, "derby"))
        marks.remove([derby], after: marks.reading())
        #expect(!contains(marks, "derby"))
    }

    @Test func `who asks waits for what was changed before, not for what is changed later`() async throws {
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
        #expect(contains(marks, "derby"))
    }

    @Test func `an event that cannot be read is waited for as long as patience has it`() async throws {
        let marks = LookupMarks(patience: .milliseconds(1))
        let derby = try key("derby")
        marks.mark([derby])
        #expect(await marks.areRead(of: derby) == false)
        #expect(contains(marks, "derby"))
        #expect(marks.waitingCount == 0)
    }
}
