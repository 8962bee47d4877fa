internal import Testing

@testable internal import Grandstand

/// What must be read again, and when the index in memory counts as up to date.
struct LookupBacklogTests {
    private let one = LookupPosition(text: "one", floor: 10)
    private let two = LookupPosition(text: "two", floor: 20)

    private func change(_ version: UInt64, _ name: String = "derby") throws -> LookupChange {
        LookupChange(version: version, subject: .event(try #require(EventKey(rawValue: name))))
    }

    /// A backlog after its first reading.
    private func whole() -> LookupBacklog {
        var backlog = LookupBacklog()
        backlog.listening()
        backlog.beginReading(at: one)
        backlog.endReading(complete: true)
        return backlog
    }

    @Test func `nothing counts as true before everything was read, or after listening started again`() {
        var backlog = LookupBacklog()
        #expect(backlog.needsReading)
        #expect(!backlog.isWhole)
        backlog.beginReading(at: one)
        // At first nothing can have been lost, so the journal is read from the beginning of listening.
        backlog.listening()
        #expect(!backlog.needsReading)
        #expect(!backlog.isWhole)
        backlog.endReading(complete: true)
        #expect(backlog.isWhole)
        backlog.listening()
        #expect(backlog.needsReading)
        #expect(!backlog.isWhole)
    }

    @Test func `a reading that failed, or during which the connection was lost, is repeated`() {
        var backlog = LookupBacklog()
        backlog.listening()
        backlog.beginReading(at: one)
        backlog.endReading(complete: false)
        #expect(backlog.needsReading)
        backlog.beginReading(at: two)
        backlog.listening()
        backlog.endReading(complete: true)
        #expect(backlog.needsReading)
        #expect(!backlog.isWhole)
    }

    @Test func `changes that were announced are not read again from the journal, but gaps are`() throws {
        var backlog = whole()
        backlog.hear(try change(11))
        #expect(backlog.take().map(\.rawValue) == ["derby"])
        let news = backlog.find([try change(11), try change(12, "cup")], from: one, to: two)
        #expect(news == [try change(12, "cup")])
        #expect(backlog.take().map(\.rawValue) == ["cup"])
        #expect(backlog.position == two)
    }

    @Test func `an announced version does not hide an earlier one that was not announced`() throws {
        var backlog = whole()
        backlog.hear(try change(15, "cup"))
        _ = backlog.take()
        let news = backlog.find([try change(15, "cup"), try change(14)], from: one, to: two)
        #expect(news == [try change(14)])
    }

    @Test func `an event that changes again is read again`() throws {
        var backlog = whole()
        backlog.hear(try change(11))
        _ = backlog.take()
        #expect(backlog.find([try change(11), try change(13)], from: one, to: two) == [try change(13)])
        #expect(backlog.take().count == 1)
    }

    @Test func `a journal that was read from another place than the last reading shows nothing`() throws {
        var backlog = whole()
        backlog.beginReading(at: two)
        #expect(backlog.find([try change(11)], from: one, to: LookupPosition(text: "three", floor: 30)) == [])
        #expect(backlog.position == two)
        #expect(backlog.keys.isEmpty)
    }

    @Test func `reading from an earlier place finds the same changes, which are not new`() throws {
        var backlog = whole()
        let again = LookupPosition(text: "again", floor: 11)
        #expect(backlog.find([try change(11)], from: one, to: again) == [try change(11)])
        #expect(backlog.take().count == 1)
        #expect(backlog.find([try change(11), try change(12)], from: again, to: again) == [try change(12)])
        #expect(backlog.take().count == 1)
        // A reading of everything begins before some changes. Changes found after that are read again.
        backlog.beginReading(at: again)
        #expect(backlog.find([try change(11)], from: again, to: two) == [try change(11)])
    }

    @Test func `what could not be read must still be read`() throws {
        var backlog = whole()
        backlog.hear(try change(11))
        let keys = backlog.take()
        #expect(backlog.keys.isEmpty)
        backlog.hear(try change(12, "cup"))
        backlog.giveBack(keys)
        #expect(backlog.keys.count == 2)
    }

    @Test func `changes that the journal may no longer have require a reading of everything`() {
        var backlog = whole()
        backlog.forgetPosition()
        #expect(backlog.needsReading)
        #expect(!backlog.isWhole)
    }

    @Test func `a change of everything requires a reading, a change of keys does not`() {
        var backlog = whole()
        backlog.hear(LookupChange(version: 11, subject: .keys))
        #expect(backlog.isWhole)
        backlog.hear(LookupChange(version: 12, subject: .everything))
        #expect(backlog.needsReading)
    }
}
