internal import Calendars
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandAPI
internal import GrandstandService
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// The stores with those of calendars, and a calendar of `Season.ics`.
struct CalendarStage: Sendable {
    let stores: Stores
    let calendars: PostgresCalendarStore
    let name: CalendarName

    static let declaration = #"""
        {"format": "ics", "eventKey": "bl1:{uid}", "topics": ["team:{home}"],
         "audiences": [{"bundleId": "com.example.Goal", "environment": "production",
                        "storagePolicy": "mostRecentMessageStored"}]}
        """#

    private static let zones = ZoneFiles()

    init(_ stores: Stores) throws {
        self.stores = stores
        calendars = PostgresCalendarStore(Database(stores.pool), documents: .api)
        name = try #require(CalendarName(rawValue: "bl1"))
    }

    /// Before the seasons of the tests: 2026-07-14.
    static let summer = Date(timeIntervalSince1970: 1_784_000_000)

    static func read(_ text: String) throws -> CalendarDeclaration {
        try CalendarDeclaration(
            JSONValue(parsing: Array(text.utf8)), networks: NetworkGuard(), documents: .api, zones: { zones.zone($0) })
    }

    @discardableResult
    func declare(
        _ text: String = Self.declaration, as name: CalendarName? = nil, within reach: AppReach = .all,
        if condition: WriteCondition = .none, now: Date = Self.summer
    ) async throws -> FixtureCalendar {
        try await calendars.put(
            name ?? self.name, Self.read(text), within: reach, by: .commandLine, if: condition, now: now
        ).calendar
    }

    @discardableResult
    func sync(
        _ season: Season, of name: CalendarName? = nil, cancelAll: Bool = false, isRehearsal: Bool = false,
        within reach: AppReach = .all, now: Date = Self.summer
    ) async throws -> CalendarReport {
        let calendar = try #require(try await calendars.calendar(name ?? self.name))
        let declaration = calendar.declaration
        let drafts = try declaration.reading(zones: { Self.zones.zone($0) }).read(season.ics()).entries
            .map { try declaration.draft($0) }
        return try await calendars.sync(
            calendar, .init(drafts: drafts, cancelAll: cancelAll), isRehearsal: isRehearsal, within: reach,
            by: .commandLine, tenure: Stores.tenure, now: now)
    }

    func event(_ fixture: Season.Fixture) async throws -> Event {
        try #require(try await stores.events.event(key(fixture), now: Self.summer))
    }

    func key(_ fixture: Season.Fixture) throws -> EventKey {
        try #require(EventKey(rawValue: "bl1:" + KeyText.folded(fixture.uid)))
    }

    /// Everything that a sync may write, in numbers.
    func traces() async throws -> [Int] {
        var traces: [Int] = []
        let counts: [PostgresQuery] = [
            "select count(*) as n from events", "select count(*) as n from audiences",
            "select count(*) as n from lanes", "select count(*) as n from calendar_entries",
            "select count(*) as n from audit_log", "select count(*) as n from lookup_journal",
        ]
        for count in counts { traces.append(try await stores.count(count)) }
        return traces
    }
}

extension CalendarReport {
    /// How many are created, changed, cancelled and left, and how many problems there are.
    var numbers: [Int] {
        [plan.create.count, plan.change.count, plan.cancel.count, plan.unchanged, plan.problems.count]
    }
}

extension Season {
    /// So many of its first fixtures.
    func first(_ count: Int) -> Season {
        var season = self
        season.fixtures = Array(fixtures.prefix(count))
        return season
    }
}

/// Runs a test with an app and a calendar on a database of its own.
func withCalendar(_ body: (CalendarStage) async throws -> Void) async throws {
    try await withStores { stores in
        stores.clock.advance(by: CalendarStage.summer.timeIntervalSince(stores.now))
        try await stores.apps.put(.sample(channelLimit: 300))
        let stage = try CalendarStage(stores)
        try await stage.declare()
        try await body(stage)
    }
}
