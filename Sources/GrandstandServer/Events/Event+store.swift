internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Stores events as their organisers declare them, with their audiences, in the tables `events`, `audiences` and
/// `lanes`.
package struct EventStore: Sendable {
    let database: Database

    package init(_ database: Database) { self.database = database }

    /// The event with this key, if the event and all its audiences are within `reach`.
    ///
    /// - Throws: `event-not-found`, also if the event has audiences out of reach.
    func declared(_ key: EventKey, within reach: AppReach, now: Date) async throws -> Versioned<Contract.Event> {
        guard let event = try await event(key, now: now), reach.covers(event: key, of: event.value.apps)
        else { throw Problem.noEvent(key) }
        return event
    }

    func event(_ key: EventKey, now: Date) async throws -> Versioned<Contract.Event>? {
        let rows = try await database.query("select \(Self.columns) from events e where e.key = \(key.rawValue)")
        return try await complete(Array(rows), now: now).first
    }

    func events(where filter: EventFilter, _ page: PageRequest, now: Date) async throws -> Page<Contract.Event> {
        let cursor = try page.cursor.map { text throws(Problem) in try PageCursor(text) }
        let rows = try await database.query(
            """
            select \(Self.columns) from events e
            where (\(filter.state?.rawValue)::text is null or \(Self.state(now: now)) = \(filter.state?.rawValue))
                and (\(filter.kind)::text is null or e.kind = \(filter.kind))
                and \(filter.season.map { season -> PostgresQuery in "e.season = \(season.rawValue)" } ?? "true")
                and (\(filter.from)::timestamptz is null or e.starts_at >= \(filter.from))
                and (\(filter.to)::timestamptz is null or e.starts_at < \(filter.to))
                and (\(filter.bundleID?.topic)::text is null or exists (
                    select from audiences u join apps a using (bundle_id)
                    where u.event_key = e.key and a.topic = \(filter.bundleID?.topic)))
                and \(EventReach.covers(filter.reach, event: "e.key"))
                and \(filter.overdueBy.map { ChannelStore.isOverdue(now: now, tenure: $0) } ?? "true")
                and (\(cursor?.key)::text is null or (e.created_at, e.key) > (\(cursor?.date), \(cursor?.key)))
            order by e.created_at, e.key limit \(page.limit + 1)
            """)
        return Page(rows: try await complete(Array(rows), now: now).map(\.value), limit: page.limit) {
            PageCursor.text($0.createdAt, $0.key)
        }
    }

    static let columns: PostgresQuery = """
        \(EventColumns.read), e.created_at, e.updated_at, e.first_update_at, e.ended_at, e.cancelled_at, e.reopened_at,
            e.version
        """

    /// `Event.State` in SQL, for filters. A test checks that it agrees with `Event.State`.
    static func state(now: Date) -> PostgresQuery {
        """
        case when e.cancelled_at is not null then 'cancelled' when e.ended_at is not null then 'ended'
            when e.first_update_at is not null or e.starts_at <= \(now) then 'live' else 'scheduled' end
        """
    }

    static func state(_ row: PostgresRow, now: Date) throws -> Event.State {
        Event.State(
            startsAt: try row.decode("starts_at"), firstUpdateAt: try row.decode("first_update_at"),
            endedAt: try row.decode("ended_at"), cancelledAt: try row.decode("cancelled_at"), now: now)
    }

    /// Adds to each event its audiences, and to each audience its channel: the channel in use or, if there is none, the
    /// latest.
    func complete(_ rows: [PostgresRow], now: Date) async throws -> [Versioned<Contract.Event>] {
        guard !rows.isEmpty else { return [] }
        let keys: [String] = try rows.map { try $0.decode("key") }
        let audienceRows = try await database.query(
            """
            select u.event_key as audience_of, \(AudienceColumns.all(of: "u", as: "audience_")),
                c.id is not null as has_channel, coalesce(\(ChannelStore.pending(lane: "u.lane")), false) as has_messages,
                \(ChannelStore.columns)
            from audiences u left join lateral (
                select * from (select * from channels where event_key = u.event_key offset 0) c
                where \(AudienceColumns.serves("c", "u"))
                order by c.state in \(Channel.State.sql(.servesAudience)) desc, c.created_at desc limit 1
            ) c on true
            where u.event_key = any(\(keys)) order by u.event_key, u.position
            """)
        var audiences: [String: [(Audience, Channel?, hasMessages: Bool)]] = [:]
        for row in audienceRows {
            let audience = try AudienceColumns.audience(row, as: "audience_")
            let channel = try row.decode(Bool.self, "has_channel") ? try ChannelStore.channel(row) : nil
            audiences[try row.decode("audience_of"), default: []].append(
                (audience, channel, try row.decode("has_messages")))
        }
        let starts = try await starts(of: keys)
        return try rows.map { row in
            let key: String = try row.decode("key")
            let shown = audiences[key] ?? []
            let state = try Self.state(row, now: now)
            let specification = try EventColumns.specification(row, audiences: shown.map(\.0), start: starts[key])
            let channels = shown.map { audience, channel, hasMessages in
                guard audience.delivery == .channel else { return Contract.AudienceChannel(state: .none) }
                // An event that is over gets a channel only for a message that waits.
                if channel == nil, state.isOver, !hasMessages { return Contract.AudienceChannel(state: .none) }
                // An open event gets another channel in place of a deleted one.
                let isGone = channel?.state == .deleted && !state.isOver
                return Contract.AudienceChannel(
                    isGone ? nil : channel, channelsOpenAt: specification.opensAt, now: now)
            }
            let event = Contract.Event(
                specification, state: .init(state), channels: channels, createdAt: try row.decode("created_at"),
                updatedAt: try row.decode("updated_at"), reopenedAt: try row.decode("reopened_at"))
            return Versioned(value: event, version: try row.decode("version"))
        }
    }
}

/// A filter of events; a member that is `nil` does not filter.
struct EventFilter: Sendable {
    var state: Event.State?
    var kind: String?
    var season: SeasonName?
    var bundleID: BundleID?
    /// Events that start at this time or later.
    var from: Date?
    /// Events that start before this time.
    var to: Date?
    /// Only events that still have a channel, although by this rule they should no longer need it.
    var overdueBy: ChannelTenure?
    /// Only events within this reach.
    var reach = AppReach.all
}
