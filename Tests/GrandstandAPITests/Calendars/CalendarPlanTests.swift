internal import APNsWire
internal import Calendars
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// What a calendar changes of its events.
struct CalendarPlanTests {
    enum Form: CaseIterable {
        case ics
        case csv

        func world() throws -> CalendarWorld {
            try CalendarWorld(self == .ics ? CalendarWorld.ics() : CalendarWorld.csv)
        }
        func file(_ season: Season) -> [UInt8] { self == .ics ? season.ics() : season.csv() }
    }

    @Test(arguments: Form.allCases)
    func `a season that is synced twice changes nothing the second time`(form: Form) throws {
        var (world, season) = try CalendarWorld.synced(form)
        let fixture = season.fixtures[5]
        let specification = try world.specification(fixture)
        #expect(specification.name == fixture.title)
        #expect(specification.startsAt == Date(timeIntervalSince1970: Double(fixture.kickOff)))
        #expect(specification.endsAt == specification.startsAt?.addingTimeInterval(6_300))
        #expect(specification.kind == "match")
        #expect(specification.topics.first?.rawValue == "league:bl1")
        #expect(specification.topics.count == 3)
        #expect(try world.sync(form.file(season)).numbers == [0, 0, 0, 380, 0])
        // Also from the other form, line for line another file.
        if form == .csv { season.fixtures.reverse() }
        #expect(try world.sync(form.file(season)).numbers == [0, 0, 0, 380, 0])
    }

    @Test(arguments: Form.allCases)
    func `exactly what the calendar changed is changed`(form: Form) throws {
        var (world, season) = try CalendarWorld.synced(form)
        for place in 0..<40 { season.fixtures[place * 9].minute += 30 }
        for place in [1, 2, 4] { season.fixtures[place].day += 90 }
        season.fixtures[7].home = "FC Neu"
        try world.edit(season.fixtures[10]) { $0.name = "The big one" }
        try world.edit(season.fixtures[9]) { $0.kind = "derby" }
        let gone = [11, 12, 13, 14, 15].map { season.fixtures[$0].uid }
        season.fixtures.removeAll { gone.contains($0.uid) }
        let plan = try world.sync(form.file(season))
        #expect(plan.numbers == [0, 44, 5, 331, 0])
        let times = plan.change.filter { $0.fields.map(\.name) == ["endsAt", "startsAt"] }
        #expect(times.count == 43)
        #expect(plan.change.map { $0.fields.map(\.name) }.contains(["name", "topics"]))
        #expect(plan.cancel.map(\.uid).sorted() == gone.sorted())
        #expect(plan.cancel.allSatisfy { $0.reason == .vanished })
        // Hand-made names stay, also where the calendar moves the same event.
        #expect(try world.specification(season.fixtures[9]).kind == "derby")
        #expect(try world.specification(season.fixtures[10]).name == "The big one")
        #expect(try world.sync(form.file(season)).numbers == [0, 0, 0, 375, 0])
    }

    @Test func `a change says the old and the new value`() throws {
        var (world, season) = try CalendarWorld.synced()
        season.fixtures[0].minute += 15
        let field = try #require(try world.sync(season.ics()).change.first?.fields.last)
        #expect(field.name == "startsAt")
        #expect(field.old.map { String(decoding: $0, as: UTF8.self) } == #""2026-08-21T19:30:00.000Z""#)
        #expect(field.new.map { String(decoding: $0, as: UTF8.self) } == #""2026-08-21T19:45:00.000Z""#)
    }

    @Test func `what somebody changed to the same is no change, and what both changed is the calendar's`() throws {
        var (world, season) = try CalendarWorld.synced()
        season.fixtures[0].minute += 15
        season.fixtures[1].minute += 15
        try world.edit(season.fixtures[0]) {
            $0.startsAt = $0.startsAt?.addingTimeInterval(900)
            $0.endsAt = $0.endsAt?.addingTimeInterval(900)
        }
        try world.edit(season.fixtures[1]) { $0.startsAt = $0.startsAt?.addingTimeInterval(60) }
        #expect(try world.sync(season.ics()).numbers == [0, 1, 0, 379, 0])
        #expect(
            try world.specification(season.fixtures[1]).startsAt?.timeIntervalSince1970
                == Double(season.fixtures[1].kickOff))
    }

    @Test func `ten leagues of both forms stay ten leagues`() throws {
        for number in 1...10 {
            let league = Season(league: "l\(number)", firstDay: Season.august + 7 * (number % 3))
            for form in Form.allCases {
                var world = try form.world()
                #expect(try world.sync(form.file(league)).numbers == [380, 0, 0, 0, 0])
                #expect(try world.sync(form.file(league)).numbers == [0, 0, 0, 380, 0])
            }
        }
    }

    // MARK: What is over

    @Test func `a match that was closed by the clock lives again when it is moved, one that was played does not`()
        throws
    {
        var (world, season) = try CalendarWorld.synced()
        world.now = Date(timeIntervalSince1970: Double(season.fixtures[0].kickOff + 200_000))
        for place in 0..<3 {
            world.set(.ended, try #require(world.synced[season.fixtures[place].uid]?.key), isExpired: place < 2)
        }
        season.fixtures[0].day += 60
        season.fixtures[2].day += 60
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [0, 1, 0, 379, 0])
        #expect(plan.change.first?.uid == season.fixtures[0].uid)
    }

    @Test func `what was over before it was known is past`() throws {
        var world = try CalendarWorld()
        var season = Season()
        world.now = Date(timeIntervalSince1970: Double(season.fixtures[199].kickOff))
        season.fixtures[379].isCancelled = true
        let over = season.fixtures.dropLast().count {
            Double($0.kickOff + 6_300) <= world.now.timeIntervalSince1970
        }
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [379 - over, 0, 0, 0, 0])
        #expect(plan.past == over + 1)
    }

    // MARK: What cannot be taken

    @Test func `an entry that is not taken neither cancels its event nor keeps others back`() throws {
        var (world, season) = try CalendarWorld.synced(.csv)
        season.fixtures[3].zone = "Mars/Olympus"
        season.fixtures[4].home = ""
        season.fixtures[5].home = String(repeating: "x", count: 300)
        season.fixtures[6].minute += 5
        let plan = try world.sync(season.csv())
        #expect(plan.numbers == [0, 1, 0, 376, 3])
        #expect(plan.problems.compactMap(\.line).sorted() == [5, 6, 7])
        #expect(Set(plan.problems.map(\.uid)) == Set(season.fixtures[3...5].map(\.uid)))
    }

    @Test func `nothing is cancelled while there are entries that could be anybody's`() throws {
        var (world, season) = try CalendarWorld.synced(.csv)
        season.fixtures[3].uid = ""
        let plan = try world.plan(season.csv())
        #expect(plan.numbers == [0, 0, 0, 379, 2])
        #expect(plan.problems.contains { $0.detail.contains("UID could not be read") })
        #expect(plan.shrinkage == nil)
        #expect(try world.plan(season.csv(), cancelAll: true).numbers == [0, 0, 1, 379, 1])
    }

    @Test func `two entries of one key are one event, and another calendar's event is left alone`() throws {
        var world = try CalendarWorld(CalendarWorld.ics().replacing("bl1:{uid}", with: "bl1:{home}-{away}"))
        var season = Season()
        season.fixtures[1].home = season.fixtures[0].home
        season.fixtures[1].away = season.fixtures[0].away
        world.taken = [
            try #require(
                EventKey(
                    rawValue: "bl1:"
                        + [season.fixtures[2].home, season.fixtures[2].away]
                        .map(KeyText.folded).joined(separator: "-")))
        ]
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [378, 0, 0, 0, 2])
        #expect(plan.problems.contains { $0.detail.contains("on line") && $0.uid == season.fixtures[1].uid })
        #expect(plan.problems.contains { $0.detail.contains("another calendar's") })
    }

    @Test func `an entry with another UID that makes the same event is the same entry`() throws {
        var world = try CalendarWorld(CalendarWorld.ics().replacing("bl1:{uid}", with: "bl1:{home}-{away}"))
        var season = Season()
        try world.sync(season.ics())
        try world.edit(season.fixtures[0]) { $0.name = "The big one" }
        for place in season.fixtures.indices { season.fixtures[place].uid += "-new" }
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 380, 0])
        #expect(try world.specification(season.fixtures[0]).name == "The big one")
        #expect(world.synced.count == 380)
    }

    @Test func `a renamed fixture keeps its event, whatever its key is made of`() throws {
        var world = try CalendarWorld(CalendarWorld.ics().replacing("bl1:{uid}", with: "bl1:{home}-{away}"))
        var season = Season()
        try world.sync(season.ics())
        season.fixtures[0].home = "FC Neu"
        #expect(try world.sync(season.ics()).numbers == [0, 1, 0, 379, 0])
    }

    @Test func `an event that is there is taken over, with what the calendar does not say`() throws {
        var world = try CalendarWorld()
        let season = Season()
        let key = try #require(EventKey(rawValue: "bl1:" + KeyText.folded(season.fixtures[0].uid)))
        let audience = try #require(world.declaration.audiences.first)
        world.put(
            EventSpecification(key: key, name: "By hand", audiences: [audience], metadata: Array(#"{"a":1}"#.utf8)))
        #expect(try world.sync(season.ics()).numbers == [379, 1, 0, 0, 0])
        #expect(try world.specification(season.fixtures[0]).metadata == Array(#"{"a":1}"#.utf8))
        #expect(try world.specification(season.fixtures[0]).name == season.fixtures[0].title)
    }

    @Test func `a key of one app changes no event that is another's, too`() throws {
        var (world, season) = try CalendarWorld.synced()
        world.reach = .only([try #require(world.declaration.audiences.first?.bundleID)])
        try world.edit(season.fixtures[0]) { event in
            guard let other = BundleID(rawValue: "com.example.Other") else { return }
            event.audiences.append(
                Audience(bundleID: other, environment: .production, storagePolicy: .noMessageStored))
        }
        season.fixtures[0].minute += 5
        season.fixtures[1].minute += 5
        #expect(try world.plan(season.ics()).numbers == [0, 1, 0, 378, 1])
        season.fixtures.removeFirst()
        #expect(try world.plan(season.ics()).numbers == [0, 1, 0, 378, 1])
    }
}
