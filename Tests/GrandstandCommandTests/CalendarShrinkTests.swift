internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandCommand

/// Entries that the file no longer has, and entries that the file cancels.
struct CalendarShrinkTests {

    @Test func `cancellations that were held back stay held back, even when many entries are new`() throws {
        var (world, season) = try CalendarWorld.synced()
        let whole = season
        season.fixtures.removeLast(127)
        #expect(try world.sync(season.ics()).holdsBack)
        for var fixture in whole.fixtures.prefix(200) {
            fixture.uid += "-new"
            season.fixtures.append(fixture)
        }
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [200, 0, 0, 253, 1])
        #expect(plan.problems.first?.detail.hasPrefix("127 of 380 events to come") == true)
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 453, 1])
        season.fixtures += whole.fixtures.suffix(127)
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 580, 0])
        #expect(!world.events.values.contains { $0.note?.removal != nil })
    }

    @Test func `events that have begun or are over are neither cancelled nor counted`() throws {
        var (world, season) = try CalendarWorld.synced()
        let keys = try season.fixtures.prefix(300).map { try world.event($0).key }
        for key in keys { world.set(.ended, key) }
        world.set(.live, keys[0])
        let last = season.fixtures.removeLast()
        season.fixtures.removeFirst(300)
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [0, 0, 1, 79, 0])
        #expect(plan.cancel.map(\.uid) == [last.uid])
    }

    @Test func `a cancelled fixture cancels its event, unless it has begun`() throws {
        var (world, season) = try CalendarWorld.synced()
        for place in 0..<100 { season.fixtures[place].isCancelled = true }
        world.set(.live, try world.event(season.fixtures[0]).key)
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [0, 0, 99, 280, 1])
        #expect(plan.cancel.allSatisfy { $0.reason == .cancelled })
        #expect(plan.problems.first?.detail.contains("has begun") == true)
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 379, 1])
        // An event that was reopened by hand a moment after its cancellation stays open.
        world.now += 1
        try world.reopen(season.fixtures[2])
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 379, 1])
        // An event whose entry comes back is not reopened automatically.
        season.fixtures[1].isCancelled = false
        let back = try world.sync(season.ics())
        #expect(back.numbers == [0, 0, 0, 378, 2])
        #expect(back.problems.contains { $0.detail.contains("event reopen") })
        try world.reopen(season.fixtures[1])
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 379, 1])
    }

    @Test func `an event that was reopened after an end or a cancellation is neither cancelled nor changed`() throws {
        var (world, season) = try CalendarWorld.synced()
        let whole = season
        for place in 0..<4 { world.set(place < 2 ? .cancelled : .ended, try world.event(season.fixtures[place]).key) }
        // The calendar then cancels two of these events, and no longer has the entries of the other two.
        season.fixtures[1].isCancelled = true
        season.fixtures[3].isCancelled = true
        season.fixtures.remove(at: 2)
        season.fixtures.remove(at: 0)
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 378, 0])
        for (place, fixture) in whole.fixtures.prefix(4).enumerated() {
            world.now += 1
            try world.reopen(fixture)
            try world.edit(fixture) { $0.set("name", "By hand \(place)") }
        }
        for _ in 1...2 {
            world.now += 3_600
            let plan = try world.sync(season.ics())
            #expect(plan.numbers == [0, 0, 0, 378, 0])
            #expect(!plan.holdsBack && plan.isEmpty)
        }
        // The calendar has the four entries again, so their events follow it again, and a later cancellation counts.
        #expect(try world.sync(whole.ics()).numbers == [0, 0, 0, 380, 0])
        #expect(try world.specification(whole.fixtures[3]).name == "By hand 3")
        let later = try world.sync(season.ics())
        let keys = try whole.fixtures.prefix(4).map { try world.event($0).key }
        #expect(Set(later.cancel.map(\.key)) == Set(keys))
    }

    @Test func `an event that was cancelled by hand stays cancelled, without a problem`() throws {
        var (world, season) = try CalendarWorld.synced()
        world.set(.cancelled, try world.event(season.fixtures[0]).key)
        season.fixtures[0].minute += 15
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 380, 0])
    }

    @Test(arguments: CalendarPlanTests.Form.allCases)
    func `if more than a third of the fixtures are missing or cancelled, cancellations need a request`(
        form: CalendarPlanTests.Form
    ) throws {
        var (world, season) = try CalendarWorld.synced(form)
        let whole = season
        for place in 0..<100 { season.fixtures[place].isCancelled = true }
        season.fixtures.removeLast(26)
        #expect(try world.plan(form.file(season)).numbers == [0, 0, 126, 254, 0])
        season.fixtures[100].isCancelled = true
        let plan = try world.sync(form.file(season))
        #expect(plan.numbers == [0, 0, 0, 253, 1])
        #expect(plan.holdsBack)
        #expect(
            plan.problems.first?.detail.contains("127 of 380 events to come are missing or cancelled in the calendar")
                == true)
        // In the next sync of the same file, the cancellations stay held back, and no note changes.
        let again = try world.sync(form.file(season))
        #expect(again.numbers == [0, 0, 0, 253, 1] && again.notes.isEmpty)
        #expect(try world.plan(form.file(whole)).numbers == [0, 0, 0, 380, 0])
        let all = try world.sync(form.file(season), acceptsRemovals: true)
        #expect(all.numbers == [0, 0, 127, 253, 0])
        #expect(all.cancel.count { $0.reason == .cancelled } == 101)
        #expect(try world.sync(form.file(season)).numbers == [0, 0, 0, 354, 0])
    }

    @Test func `many cancellations are held back even in a calendar's first file`() throws {
        var (world, season) = try CalendarWorld.synced()
        for (key, event) in world.events {
            var document = event.document
            document["metadata"] = nil
            try world.put(key, document)
        }
        for place in season.fixtures.indices { season.fixtures[place].isCancelled = true }
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [0, 0, 0, 0, 1])
        #expect(plan.holdsBack)
        #expect(try world.plan(season.ics(), acceptsRemovals: true).numbers == [0, 0, 380, 0, 0])
    }
}
