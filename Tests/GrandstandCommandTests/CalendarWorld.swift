internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// A season and its events, in memory. `plan` makes a plan of changes from a calendar file, and `sync` also applies the
/// plan.
struct CalendarWorld {
    /// A time before the seasons of the tests.
    static let summer = Date(timeIntervalSince1970: 1_784_000_000)

    var declaration: CalendarDeclaration
    var events: [EventKey: SeasonEvent] = [:]
    var now = Self.summer

    static let audience =
        #"{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored"}"#

    /// A declaration for the calendar `Season.ics` of a league, with these additional members.
    static func ics(_ more: String = "") -> String {
        #"""
        {"season": "bl1", "format": "ics", "timeZone": "Europe/Vienna", "eventKey": "bl1:{uid}", "kind": "match",
         "topics": ["league:bl1", "team:{home}", "team:{away}"], "audiences": [\#(audience)]\#(more)}
        """#
    }

    /// A declaration for the calendar `Season.csv` of the same season, with the same event keys and topics as `ics`.
    static let csv = #"""
        {"season": "bl1", "format": "csv", "eventKey": "bl1:{uid}", "kind": "match", "defaultDuration": 6300,
         "topics": ["league:bl1", "team:{home}", "team:{away}"], "audiences": [\#(audience)],
         "columns": {"uid": "id", "startsAt": "{date} {time}", "timeZone": "zone", "status": "state", "home": "Team 1",
                     "away": "Team 2", "summary": "{home} – {away}", "endsAt": null}}
        """#

    static func declaration(_ text: String) throws -> CalendarDeclaration {
        try CalendarDeclaration(JSONValue(parsing: Array(text.utf8)))
    }

    init(_ text: String = Self.ics()) throws { declaration = try Self.declaration(text) }

    var situation: CalendarPlan.Situation {
        CalendarPlan.Situation(events: events, now: now)
    }

    /// The season's event of a fixture.
    func event(_ fixture: Season.Fixture) throws -> SeasonEvent {
        try #require(events.values.first { $0.note?.season == declaration.season && $0.note?.uid == fixture.uid })
    }

    func plan(_ file: [UInt8], acceptsRemovals: Bool = false) throws -> CalendarPlan {
        let request = try CalendarPlan.Request(file, declaration, acceptsRemovals: acceptsRemovals)
        return CalendarPlan(request, situation)
    }

    /// Applies a plan, as the command does with the API.
    @discardableResult
    mutating func sync(_ file: [UInt8], acceptsRemovals: Bool = false) throws -> CalendarPlan {
        let plan = try plan(file, acceptsRemovals: acceptsRemovals)
        for write in plan.create + plan.change + plan.notes { try put(write.key, write.document) }
        for cancellation in plan.cancel {
            try put(cancellation.key, cancellation.document)
            set(.cancelled, cancellation.key)
        }
        return plan
    }

    /// A world some time after the first sync of its season.
    static func synced(_ form: CalendarPlanTests.Form = .ics) throws -> (CalendarWorld, Season) {
        var world = try form.world()
        let season = Season()
        #expect(try world.sync(form.file(season)).numbers == [380, 0, 0, 0, 0])
        world.now += 3_600
        return (world, season)
    }

    /// Declares an event, as PUT does.
    mutating func put(_ key: EventKey, _ document: EventDocument) throws {
        let specification = try document.declaration(of: key)
        let shown = EventDocument(of: specification)
        events[key] = SeasonEvent(
            key: key, document: shown, state: events[key]?.state == .live ? .live : .scheduled,
            reopenedAt: events[key]?.reopenedAt, note: SeasonNote(metadata: shown["metadata"]))
    }

    mutating func set(_ state: Contract.EventState, _ key: EventKey) {
        events[key]?.state = state
    }

    /// Reopens an event, as a person would.
    mutating func reopen(_ fixture: Season.Fixture, as state: Contract.EventState = .scheduled) throws {
        let key = try event(fixture).key
        set(state, key)
        events[key]?.reopenedAt = RFC3339.text(now)
    }

    /// Changes an event's declaration, as a person would.
    mutating func edit(_ fixture: Season.Fixture, _ change: (inout EventDocument) -> Void) throws {
        let event = try event(fixture)
        var document = event.document
        change(&document)
        try put(event.key, document)
    }

    func specification(_ fixture: Season.Fixture) throws -> EventSpecification {
        let event = try event(fixture)
        return try event.document.declaration(of: event.key)
    }
}

extension CalendarPlan {
    /// Whether there is nothing to write.
    var isEmpty: Bool { (create + change + cancel + notes).isEmpty }

    /// The numbers of created, changed, cancelled and unchanged events, and of problems.
    var numbers: [Int] { [create.count, change.count, cancel.count, unchanged, problems.count] }
}
