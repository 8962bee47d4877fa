internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// The calendar of events, for all seasons or one season. It shows the events by day with the channel places they need,
/// and the overdue events.
struct Season: ConsolePage {
    var template: TemplateName { .season }
    let title = "Season"
    /// The days of whole weeks, beginning on a Monday.
    let days: [SeasonDays.Day]
    let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    let nothingDeclared: String?
    let earlierHref: String
    let laterHref: String
    let fromDate: String
    /// The name of the season; empty: all seasons.
    let season: String
    let overdue: [SeasonEvent]
    let forecasts: Table
    let newEventHref: String
    let eventsLeftOut: String?

    static let length = 28
    /// The number of events of a day that are visible at once. Further events are collapsed.
    private static let shownOfDay = 6

    struct Contents: Sendable {
        var events: [Event] = []
        /// Whether there are more events than were read.
        var isCut = false
        var overdue: [Event] = []
        var quotas: [Quota] = []
        /// Whether the key may see the forecasts of the quotas. Other keys see only the number of places.
        var showsForecasts = false
    }

    init(_ contents: Contents, of season: SeasonName? = nil, from first: Date, tenure: ChannelTenure, now: Date) {
        let capacities = Dictionary(contents.quotas.map { ($0.place, $0.capacity) }) { one, _ in one }
        let all = SeasonDays(
            contents.events, first: first, count: Self.length, capacities: capacities, tenure: tenure, now: now
        ).days
        let apps = Set(all.flatMap(\.places).map(\.app)).count
        days = all.map { $0.folded(after: Self.shownOfDay, isOfOneApp: apps == 1) }
        nothingDeclared = days.allSatisfy(\.events.isEmpty) ? "Nothing is declared for these days." : nil
        func link(_ days: Int) -> String {
            let date = first.addingTimeInterval(Double(days) * 86_400)
            return ConsolePath.link(
                ConsolePath.season, [("from", String(RFC3339.text(date).prefix(10))), ("season", season?.rawValue)])
        }
        earlierHref = link(-Self.length)
        laterHref = link(Self.length)
        fromDate = String(RFC3339.text(first).prefix(10))
        self.season = season?.rawValue ?? ""
        overdue = contents.overdue.map(SeasonEvent.init)
        forecasts = Self.forecasts(contents.showsForecasts ? contents.quotas : [])
        newEventHref = ConsolePath.newEvent
        eventsLeftOut =
            contents.isCut ? "These days have more events than are counted here; the list of events has them all." : nil
    }

    /// The table of places of each app: the places taken now, and the highest number of places in the forecast.
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

    /// The time from which the forecast exceeds the limit.
    static func excess(_ moment: Moment?) -> [Piece] {
        moment.map { [Piece.level("critical", "from"), .time($0)] } ?? [.words("never")]
    }
}
