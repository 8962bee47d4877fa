internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// Events by day with the channel places they need. Days are in UTC, so that they are the same for everybody.
struct SeasonDays: Sendable {
    struct Day: Sendable, Equatable {
        /// `2026-11-28`
        let date: String
        /// `28 Nov`
        let dayOfMonth: String
        let weekday: String
        let isToday: Bool
        let isPast: Bool
        var events: [SeasonEvent]
        /// The collapsed events, and the text that opens them.
        var moreEvents: [SeasonEvent] = []
        var moreText = ""
        /// The most places that events take at the same time on this day, for each app and environment. Collapsed
        /// events and events of earlier days count, too.
        var places: [DayPlaces]

        /// The same day with the events after `limit` collapsed.
        ///
        /// - Parameter isOfOneApp: whether the whole page has only one app. If so, the name of the app is left out.
        func folded(after limit: Int, isOfOneApp: Bool) -> Day {
            var day = self
            if isOfOneApp { for place in day.places.indices { day.places[place].app = nil } }
            guard events.count > limit else { return day }
            day.moreEvents = Array(events.dropFirst(limit))
            day.events = Array(events.prefix(limit))
            day.moreText = "\(Wording.number(day.moreEvents.count)) more"
            return day
        }
    }

    let days: [Day]

    /// - Parameters:
    ///   - events: the events that start at most two days before `first`, or later. Events that start before `first`
    ///     may still hold places on the shown days.
    ///   - capacities: the number of places of each app whose quota is known.
    init(
        _ events: [Event], first: Date, count: Int, capacities: [AppEnvironment: Int], tenure: ChannelTenure, now: Date
    ) {
        let first = Self.midnight(first)
        var days = (0..<count).map { place in
            let date = first.addingTimeInterval(Double(place) * Self.day)
            return Day(
                date: String(RFC3339.text(date).prefix(10)), dayOfMonth: Self.dayOfMonth(date),
                weekday: Self.weekday(date), isToday: date == Self.midnight(now), isPast: date < Self.midnight(now),
                events: [], places: [])
        }
        var taken: [AppEnvironment: [Int]] = [:]
        for event in events {
            let specification = event.specification
            if let startsAt = specification.startsAt, let place = Self.place(startsAt, first, count) {
                days[place].events.append(SeasonEvent(event))
            }
            for (audience, channel) in zip(specification.audiences, event.channels) where audience.delivery == .channel
            {
                guard let span = Self.span(event, audience, channel, tenure, now) else { continue }
                let from = max(0, Self.index(span.lowerBound, first))
                let to = min(count - 1, Self.index(span.upperBound, first))
                guard from <= to else { continue }
                for place in from...to { taken[audience.app, default: Array(repeating: 0, count: count)][place] += 1 }
            }
        }
        let apps = taken.keys.sorted {
            ($0.bundleID.rawValue, $0.environment.rawValue) < ($1.bundleID.rawValue, $1.environment.rawValue)
        }
        for place in days.indices {
            days[place].events.sort { ($0.startsAt.iso, $0.key) < ($1.startsAt.iso, $1.key) }
            days[place].places = apps.compactMap { app in
                let taken = taken[app]?[place] ?? 0
                return taken == 0 ? nil : DayPlaces(app, taken: taken, capacity: capacities[app])
            }
        }
        self.days = days
    }

    private static let day: TimeInterval = 86_400

    static func midnight(_ date: Date) -> Date {
        Date(timeIntervalSince1970: (date.timeIntervalSince1970 / day).rounded(.down) * day)
    }

    /// The midnight at which the week of `date` begins.
    static func monday(_ date: Date) -> Date {
        let midnight = midnight(date)
        // 1 January 1970 was a Thursday.
        let days = Int(midnight.timeIntervalSince1970 / day)
        return midnight.addingTimeInterval(-Double(((days + 3) % 7 + 7) % 7) * day)
    }

    private static func index(_ date: Date, _ first: Date) -> Int {
        Int((date.timeIntervalSince(first) / day).rounded(.down))
    }

    private static func place(_ date: Date, _ first: Date, _ count: Int) -> Int? {
        let index = index(date, first)
        return (0..<count).contains(index) ? index : nil
    }

    /// The time during which an audience's channel holds a place; `nil`: the channel holds no place.
    private static func span(
        _ event: Event, _ audience: Audience, _ channel: Audience.ChannelStatus, _ tenure: ChannelTenure, _ now: Date
    ) -> ClosedRange<Date>? {
        let specification = event.specification
        guard channel.state != .deleted, channel.state != .none else { return nil }
        guard event.hasOrWillHave(channel) else { return nil }
        let course = ChannelTenure.Course(
            createdAt: event.createdAt, channelsOpenAt: specification.opensAt, startsAt: specification.startsAt,
            endsAt: specification.endsAt, overAt: event.state.isOver ? event.updatedAt : nil)
        let opensAt = specification.opensAt ?? event.createdAt
        let frees = tenure.frees(course, storagePolicy: audience.storagePolicy, now: now)
        return opensAt <= frees ? opensAt...frees : nil
    }

    private static func dayOfMonth(_ date: Date) -> String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = RFC3339.text(date).prefix(10).split(separator: "-").compactMap { Int($0) }
        return parts.count == 3 ? "\(parts[2]) \(months[(parts[1] - 1) % 12])" : ""
    }

    private static func weekday(_ date: Date) -> String {
        let names = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
        let index = Int((date.timeIntervalSince1970 / day).rounded(.down)) % 7
        return names[(index + 7) % 7]
    }
}

extension Event {
    /// Whether the channel exists or will be created. An event that is over gets no new channel.
    fileprivate func hasOrWillHave(_ channel: Audience.ChannelStatus) -> Bool {
        !state.isOver || channel.state == .active || channel.state == .retiring
    }
}

/// One event of a day.
struct SeasonEvent: Sendable, Equatable {
    let key: String
    let href: String
    let name: String
    let state: String
    /// The state; `nil` for `scheduled`, which is not shown.
    let notable: String?
    let startsAt: Moment
    /// The places that the event's channels need, in the form `2 places`. Audiences by token need no places.
    let placesText: String
    /// The number of channels in each state; `nil`: there is no channel, and no channel will be created.
    let channelsText: String?

    init(_ event: Event) {
        let specification = event.specification
        key = specification.key.rawValue
        href = ConsolePath.event(specification.key)
        name = specification.name
        state = event.state.rawValue
        notable = event.state == .scheduled ? nil : event.state.rawValue
        startsAt = Moment(specification.startsAt ?? event.createdAt)
        let channels = zip(specification.audiences, event.channels).filter {
            $1.state == .deleted || event.hasOrWillHave($1)
        }
        placesText = Wording.count(channels.count { audience, _ in audience.delivery == .channel }, "place")
        channelsText = channels.isEmpty ? nil : Wording.tally(channels.map(\.1.state.rawValue))
    }
}

/// The places of one app on one day.
struct DayPlaces: Sendable, Equatable {
    /// The app; `nil` if the page has only one app.
    var app: String?
    /// `12 of 10,000`
    let text: String
    /// A warning from 80 % of the limit: `nearly all`, or above the limit `more than the limit`.
    let placesWarning: String?

    init(_ app: AppEnvironment, taken: Int, capacity: Int?) {
        self.app = "\(app.bundleID), \(app.environment.rawValue)"
        text = Wording.number(taken) + (capacity.map { " of \(Wording.number($0))" } ?? "")
        placesWarning =
            capacity.flatMap { limit in
                taken > limit ? "more than the limit" : taken * 100 >= limit * 80 ? "nearly all" : nil
            }
    }
}
