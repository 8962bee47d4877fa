internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

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
        #expect(backlog.needsReading && !backlog.isWhole)
        backlog.beginReading(at: one)
        // Listening begins for the first time. The journal has all changes since the first reading began, so none is
        // lost and no second reading is needed.
        backlog.listening()
        #expect(!backlog.needsReading && !backlog.isWhole)
        backlog.endReading(complete: true)
        #expect(backlog.isWhole)
        backlog.listening()
        #expect(backlog.needsReading && !backlog.isWhole)
    }

    @Test func `a reading that failed, or what the journal may no longer have, requires a reading of everything`() {
        let losses: [(inout LookupBacklog) -> Void] = [
            { $0.endReading(complete: false) }, { $0.listening() }, { $0.forgetPosition() },
            { $0.hear(LookupChange(version: 12, subject: .everything)) },
        ]
        for lose in losses {
            var backlog = whole()
            backlog.hear(LookupChange(version: 11, subject: .keys))
            #expect(backlog.isWhole && !backlog.needsReading)
            backlog.beginReading(at: two)
            lose(&backlog)
            backlog.endReading(complete: true)
            #expect(backlog.needsReading && !backlog.isWhole)
        }
    }

    /// The changes that are announced, those that the journal has, and those of them that are new.
    @Test(
        arguments: [
            ([11], [11], []), ([15], [15, 14], [14]), ([11], [11, 13], [13]), ([11], [11, 112], [112]),
            ([], [11], [11]),
        ] as [([UInt64], [UInt64], [UInt64])])
    func `changes that were announced are not read again from the journal, but gaps and later changes are`(
        announced: [UInt64], journal: [UInt64], news: [UInt64]
    ) throws {
        // Versions above 100 are of another event.
        func changes(_ versions: [UInt64]) throws -> [LookupChange] {
            try versions.map { try change($0, $0 > 100 ? "cup" : "derby") }
        }
        var backlog = whole()
        for change in try changes(announced) { backlog.hear(change) }
        let keys = backlog.take().keys
        #expect(keys.count == announced.count && backlog.keys.isEmpty)
        #expect(try backlog.find(changes(journal), from: one, to: two) == changes(news))
        #expect(backlog.keys.count == Set(news.map { $0 > 100 }).count)
        #expect(backlog.position == two)
        // What could not be read must still be read.
        backlog.giveBack(keys)
        #expect(backlog.keys.isSuperset(of: keys))
    }

    @Test func `changes read from the journal before the present reading's position are ignored`() throws {
        var backlog = whole()
        backlog.beginReading(at: two)
        #expect(backlog.find([try change(11)], from: one, to: LookupPosition(text: "three", floor: 30)) == [])
        #expect(backlog.position == two)
        #expect(backlog.keys.isEmpty)
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
        let number = backlog.lastOwnChange
        backlog.change([], at: .now)
        #expect(backlog.lastOwnChange == number)
        backlog.change([derby], at: .now)
        #expect(backlog.lastOwnChange > number)
    }
}
