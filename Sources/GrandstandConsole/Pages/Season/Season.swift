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
    let forecasts: Table
    let calendars: Table
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
        let capacities = Dictionary(contents.quotas.map { ($0.place, $0.capacity) }) { one, _ in one }
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
        forecasts = Self.forecasts(contents.showsForecasts ? contents.quotas : [])
        calendars = Self.calendars(contents.calendars.items.map(CalendarReading.init))
        newEventHref = ConsolePath.newEvent
        newCalendarHref = ConsolePath.calendars
        calendarsLeftOut =
            contents.calendars.nextCursor == nil ? nil : "There are more calendars; the API lists them all."
        eventsLeftOut =
            contents.isCut ? "These days have more events than are counted here; the list of events has them all." : nil
    }

    /// The places of each app: now, and the most that are foreseen.
    private static func forecasts(_ quotas: [Quota]) -> Table {
        Table(
            "Channels that are taken now, and the most that all declared events will take", limit: .max, quotas,
            [
                Column("App") { [.quoted(Wording.list($0.bundleID.rawValue, $0.environment.rawValue))] },
                .number("Now") { $0.taken }, .number("Limit") { $0.capacity }, .number("Most") { $0.forecast.peak },
                Column("When") { [.moment($0.forecast.peakAt)] },
                Column("Too many") { Self.excess($0.forecast.exceedsAt.map { Moment($0) }) },
            ])
    }

    /// From when on there are more places needed than there are.
    static func excess(_ moment: Moment?) -> [Piece] {
        moment.map { [Piece.level("critical", "from"), .time($0)] } ?? [.words("never")]
    }

    private static func calendars(_ calendars: [CalendarReading]) -> Table {
        Table(
            "Files of fixtures", nothing: "There is none yet: a calendar makes a season of events out of one file.",
            calendars,
            [
                Column("Calendar") { [.link($0.name, $0.href)] },
                Column("From") { [.quoted($0.origin), .words("(\($0.format))")] },
                Column("Last sync") { [.moment($0.lastSyncAt), .words($0.lastSyncText)] },
                Column("Fetched again") { [.moment($0.nextRefreshAt)] },
                Column("Trouble") { $0.alarm + [.quoted($0.failure ?? "")] }, Column("Do") { [$0.action] },
            ])
    }
}
