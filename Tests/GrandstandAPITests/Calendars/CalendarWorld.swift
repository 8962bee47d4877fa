internal import Calendars
internal import Foundation
internal import Grandstand
internal import GrandstandAPI
internal import GrandstandService
internal import GrandstandTestKit
internal import Testing

/// A calendar whose events are values: a plan is made of a file and carried out.
struct CalendarWorld {
    static let zones = ZoneFiles()
    /// Before the seasons of the tests.
    static let summer = Date(timeIntervalSince1970: 1_784_000_000)

    var declaration: CalendarDeclaration
    var synced: [String: CalendarPlan.Synced] = [:]
    var events: [EventKey: CalendarPlan.Present] = [:]
    var taken: Set<EventKey> = []
    var isShrunk = false
    var reach = AppReach.all
    var now = Self.summer

    static let audience =
        #"{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored"}"#

    /// What a league declares of `Season.ics`, with more members.
    static func ics(_ more: String = "") -> String {
        #"""
        {"format": "ics", "timeZone": "Europe/Vienna", "eventKey": "bl1:{uid}", "kind": "match",
         "topics": ["league:bl1", "team:{home}", "team:{away}"], "audiences": [\#(audience)]\#(more)}
        """#
    }

    /// The same of `Season.csv`.
    static let csv = #"""
        {"format": "csv", "eventKey": "bl1:{uid}", "kind": "match", "defaultDuration": 6300,
         "topics": ["league:bl1", "team:{home}", "team:{away}"], "audiences": [\#(audience)],
         "columns": {"uid": "id", "startsAt": "date time", "timeZone": "zone", "status": "state", "home": "Team 1",
                     "away": "Team 2", "summary": "{home} – {away}", "endsAt": null}}
        """#

    static func declaration(_ text: String) throws -> CalendarDeclaration {
        try CalendarDeclaration(
            JSONValue(parsing: Array(text.utf8)), networks: NetworkGuard(), documents: .api,
            zones: { zones.zone($0) })
    }

    init(_ text: String = Self.ics()) throws { declaration = try Self.declaration(text) }

    /// The preview of a file's sync.
    func plan(_ file: [UInt8], cancelAll: Bool = false) throws -> CalendarPlan {
        let file = try declaration.reading(zones: { Self.zones.zone($0) }).read(file)
        var drafts: [CalendarDraft] = []
        var problems = file.faults.map { CalendarProblem(line: $0.line, detail: $0.detail, uid: $0.uid) }
        for entry in file.entries {
            do throws(CalendarFault) {
                drafts.append(try declaration.draft(entry))
            } catch {
                problems.append(CalendarProblem(line: error.line, detail: error.detail, uid: error.uid))
            }
        }
        return plan(CalendarPlan.Wish(drafts: drafts, problems: problems, cancelAll: cancelAll))
    }

    func plan(_ wish: CalendarPlan.Wish) -> CalendarPlan {
        CalendarPlan(
            wish, .init(synced: synced, events: events, taken: taken, isShrunk: isShrunk, reach: reach, now: now),
            documents: .api)
    }

    /// Carries a plan out.
    @discardableResult
    mutating func sync(_ file: [UInt8], cancelAll: Bool = false) throws -> CalendarPlan {
        let plan = try plan(file, cancelAll: cancelAll)
        for write in plan.create + plan.change { put(write.specification) }
        for cancellation in plan.cancel { set(.cancelled, cancellation.event.specification.key) }
        for uid in plan.forgotten { synced[uid] = nil }
        synced.merge(plan.memory) { $1 }
        isShrunk = plan.shrinkage != nil
        return plan
    }

    /// The world of a calendar whose season was synced.
    static func synced(_ form: CalendarPlanTests.Form = .ics) throws -> (CalendarWorld, Season) {
        var world = try form.world()
        let season = Season()
        #expect(try world.sync(form.file(season)).numbers == [380, 0, 0, 0, 0])
        return (world, season)
    }

    /// Declares an event by hand.
    mutating func put(_ specification: EventSpecification, _ state: Event.State = .scheduled) {
        events[specification.key] = CalendarPlan.Present(
            event: Event(
                specification: specification, state: state,
                channels: specification.audiences.map { _ in .init(state: .pending) }, createdAt: now, updatedAt: now))
    }

    mutating func set(_ state: Event.State, _ key: EventKey, isExpired: Bool = false) {
        events[key]?.event.state = state
        events[key]?.isExpired = isExpired
    }

    /// Changes what is declared of an event, as somebody does by hand.
    mutating func edit(_ fixture: Season.Fixture, _ change: (inout EventSpecification) -> Void) throws {
        let key = try #require(synced[fixture.uid]?.key)
        var specification = try #require(events[key]?.event.specification)
        change(&specification)
        put(specification)
    }

    func specification(_ fixture: Season.Fixture) throws -> EventSpecification {
        try #require(synced[fixture.uid].flatMap { events[$0.key] }).event.specification
    }
}

extension CalendarPlan {
    /// How many are created, changed, cancelled and left, and how many problems there are.
    var numbers: [Int] { [create.count, change.count, cancel.count, unchanged, problems.count] }
}
