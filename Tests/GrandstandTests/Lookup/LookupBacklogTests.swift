internal import Testing

@testable internal import Grandstand

/// What must be read again, and when the index in memory counts as up to date.
struct LookupBacklogTests {
    private let one = LookupPosition(text: "one", floor: 10)
    private let two = LookupPosition(text: "two", floor: 20)

    private func key(_ name: String) throws -> EventKey { try #require(EventKey(rawValue: name)) }

    private func change(_ version: UInt64, _ name: String = "derby") throws -> LookupChange {
        LookupChange(version: version, subject: .event(try key(name)))
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
        // Listening begins for the first time. The journal has all changes since the first reading began, so none is
        // lost and no second reading is needed.
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
        #expect(backlog.take().keys.map(\.rawValue) == ["derby"])
        let news = backlog.find([try change(11), try change(12, "cup")], from: one, to: two)
        #expect(news == [try change(12, "cup")])
        #expect(backlog.take().keys.map(\.rawValue) == ["cup"])
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
        #expect(backlog.take().keys.count == 1)
    }

    @Test func `changes read from the journal before the present reading's position are ignored`() throws {
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
        #expect(backlog.take().keys.count == 1)
        #expect(backlog.find([try change(11), try change(12)], from: again, to: again) == [try change(12)])
        #expect(backlog.take().keys.count == 1)
        // A new reading of everything may begin at a position before a change that was already found. So `beginReading`
        // forgets the changes that were found. If the journal shows such a change again, it counts as new and is read
        // again.
        backlog.beginReading(at: again)
        #expect(backlog.find([try change(11)], from: again, to: two) == [try change(11)])
    }

    @Test func `what could not be read must still be read`() throws {
        var backlog = whole()
        backlog.hear(try change(11))
        let keys = backlog.take().keys
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

    @Test func `after a change of database servers everything is read, because the new one may lag behind`() {
        var backlog = LookupBacklog()
        var (first, second, third) = (one, two, two)
        (first.server, second.server, third.server) = ("a", "a", "b")
        backlog.beginReading(at: first)
        backlog.endReading(complete: true)
        _ = backlog.find([], from: first, to: second)
        #expect(backlog.isWhole)
        #expect(backlog.isIdle)
        _ = backlog.find([], from: second, to: third)
        #expect(backlog.needsReading)
        #expect(!backlog.isIdle)
    }

    @Test func `only one caller at a time may read everything`() {
        var backlog = LookupBacklog()
        let first = (backlog.startReading(), backlog.startReading())
        #expect(first == (true, false))
        backlog.beginReading(at: one)
        backlog.forgetPosition()
        let meanwhile = backlog.startReading()
        #expect(!meanwhile)
        backlog.endReading(complete: true)
        let second = backlog.startReading()
        #expect(second)
        backlog.endReading(complete: false)
        let again = backlog.startReading()
        #expect(again)
    }

    @Test func `an own change is read in a round that began after it, and in no other`() throws {
        var backlog = whole()
        let (derby, cup) = (try key("derby"), try key("cup"))
        let moment = ContinuousClock.now
        let early = backlog.take()
        backlog.change([derby], at: moment)
        #expect(backlog.unread(derby)?.at == moment)
        #expect(backlog.unread(cup) == nil)
        backlog.read(derby, in: early)
        #expect(backlog.unread(derby)?.at == moment)
        let late = backlog.take()
        #expect(late.keys == [derby])
        // The event changes again while it is being read.
        backlog.change([derby], at: moment + .seconds(1))
        backlog.read(derby, in: late)
        #expect(backlog.unread(derby)?.at == moment + .seconds(1))
        backlog.change([cup], at: moment + .seconds(2))
        #expect(backlog.unread?.at == moment + .seconds(1))
        let last = backlog.take()
        #expect(Set(last.keys) == [derby, cup])
        for key in last.keys { backlog.read(key, in: last) }
        #expect(backlog.unread == nil)
    }

    @Test func `each own change gets a higher number, and an empty change gets none`() throws {
        var backlog = whole()
        backlog.change([try key("derby")], at: .now)
        let first = backlog.lastOwnChange
        _ = backlog.take()
        backlog.change([], at: .now)
        #expect(backlog.lastOwnChange == first)
        backlog.change([try key("derby")], at: .now)
        #expect(backlog.lastOwnChange > first)
    }
}
