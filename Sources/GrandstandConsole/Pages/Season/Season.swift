internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// What is to come: events by day with the places they take, those that are overdue, and the calendars they are from.
struct Season: ConsolePage {
    var template: TemplateName { .season }
    let title = "Season"
    let days: [SeasonDays.Day]
    /// Days without an event are one line.
    let earlierHref: String
    let laterHref: String
    let fromDate: String
    let overdue: [SeasonEvent]
    let forecasts: [SeasonForecast]
    let calendars: [CalendarRow]
    let newEventHref: String
    let newCalendarHref: String
    let calendarsLeftOut: String?
    let eventsLeftOut: String?

    static let length = 28

    struct Contents: Sendable {
        var events: [Event] = []
        /// There are more than were read.
        var isCut = false
        var overdue: [Event] = []
        var quotas: [Quota] = []
        /// Whether the key may see more of them than what there is room for.
        var showsForecasts = false
        var calendars: Page<FixtureCalendar> = Page(items: [], nextCursor: nil)
    }

    init(_ contents: Contents, from first: Date, tenure: ChannelTenure, now: Date) {
        let capacities = Dictionary(
            contents.quotas.map { (AppEnvironment(bundleID: $0.bundleID, environment: $0.environment), $0.capacity) }
        ) { one, _ in one }
        days = SeasonDays(
            contents.events, first: first, count: Self.length, capacities: capacities, tenure: tenure, now: now
        ).days.filter { !$0.events.isEmpty || $0.isToday || !$0.places.isEmpty }
        func link(_ days: Int) -> String {
            let date = first.addingTimeInterval(Double(days) * 86_400)
            return ConsolePath.link(ConsolePath.season, [("from", String(RFC3339.text(date).prefix(10)))])
        }
        earlierHref = link(-Self.length)
        laterHref = link(Self.length)
        fromDate = String(RFC3339.text(first).prefix(10))
        overdue = contents.overdue.map(SeasonEvent.init)
        forecasts = contents.showsForecasts ? contents.quotas.map(SeasonForecast.init) : []
        calendars = contents.calendars.items.map(CalendarRow.init)
        newEventHref = ConsolePath.newEvent
        newCalendarHref = ConsolePath.calendars
        calendarsLeftOut =
            contents.calendars.nextCursor == nil ? nil : "There are more calendars; the API lists them all."
        eventsLeftOut =
            contents.isCut ? "These days have more events than are counted here; the list of events has them all." : nil
    }
}

/// The places of an app: now, and the most that are foreseen.
struct SeasonForecast: Sendable {
    let app: String
    let used: String
    let capacity: String
    let peak: String
    let peakAt: Moment
    let exceedsAt: Moment?

    init(_ quota: Quota) {
        app = "\(quota.bundleID), \(quota.environment.rawValue)"
        used = Wording.number(quota.used + quota.reserved)
        capacity = Wording.number(quota.capacity)
        peak = Wording.number(quota.forecast.peak)
        peakAt = Moment(quota.forecast.peakAt)
        exceedsAt = quota.forecast.exceedsAt.map { Moment($0) }
    }
}

/// One calendar of the list.
struct CalendarRow: Sendable {
    let name: String
    let href: String
    let format: String
    let origin: String
    let lastSyncAt: Moment?
    let lastSyncText: String
    let nextRefreshAt: Moment?
    let calendarFailure: String?
    let calendarAlarm: String?
    /// `nil`: it has no address to fetch it from.
    let syncAction: String?

    init(_ calendar: FixtureCalendar) {
        name = calendar.name.rawValue
        href = ConsolePath.calendar(calendar.name)
        format = calendar.formatWord
        origin = calendar.declaration.url?.origin ?? "its file is sent"
        lastSyncAt = calendar.lastSync.map { Moment($0.at) }
        lastSyncText =
            calendar.lastSync.map { sync in
                "\(Wording.number(sync.create)) created, \(Wording.number(sync.change)) changed, "
                    + "\(Wording.number(sync.cancel)) cancelled, \(Wording.number(sync.unchanged)) as they were, "
                    + Wording.count(sync.problems, "problem")
            } ?? "never synced"
        nextRefreshAt = calendar.nextRefreshAt.map { Moment($0) }
        calendarFailure = calendar.failure
        calendarAlarm = calendar.shrunk.map { "\($0.finding): look at its file, and sync it again." }
        syncAction = calendar.declaration.url == nil ? nil : ConsolePath.calendar(calendar.name, "apply")
    }
}

extension FixtureCalendar {
    /// `ics` or `csv`, as it was declared.
    var formatWord: String {
        declaration.source["format"].flatMap { try? JSONValue(parsing: $0) }?.string ?? "ics"
    }
}
