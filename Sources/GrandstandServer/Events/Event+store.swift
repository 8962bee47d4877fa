internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Stores events as their organisers declare them, with their audiences, in the tables `events` and `audiences`.
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
        try await select("where e.key = \(key.rawValue)", now: now).first
    }

    func events(where filter: EventFilter, _ page: PageRequest, now: Date) async throws -> Contract.Page<Contract.Event>
    {
        let cursor = try page.cursor.map { text throws(Problem) in try PageCursor(text) }
        let events = try await select(
            """
            where \(Self.fits(filter, now: now))
                and (\(cursor?.key)::text is null or (e.created_at, e.key) > (\(cursor?.date), \(cursor?.key)))
            order by e.created_at, e.key limit \(page.limit + 1)
            """, now: now)
        return Contract.Page(rows: events.map(\.value), limit: page.limit) { PageCursor.text($0.createdAt, $0.key) }
    }

    /// Events for people: live ones, then those to come, then those that are over, each part by its day. Every page is
    /// sorted anew, so that an event moves to its place as soon as its state changes.
    func agenda(
        where filter: EventFilter, skipping skipped: Int = 0, limit: Int, now: Date
    ) async throws -> [Contract.Event] {
        try await select(
            """
            where \(Self.fits(filter, now: now))
            order by array_position(array['live', 'scheduled'], \(Self.state(now: now))),
                case when \(ChannelStore.isOver) then coalesce(e.starts_at, e.created_at) end desc, e.starts_at, e.created_at, e.key
            limit \(limit) offset \(skipped)
            """, now: now
        ).map(\.value)
    }

    /// The newest content that was accepted for each of these events and not withdrawn.
    func newestContents(of keys: [String]) async throws -> [String: [UInt8]] {
        let rows = try await database.query(
            """
            select e.key, b.content_state from unnest(\(keys)::text[]) e(key) cross join lateral (
                select content_state from broadcasts where event_key = e.key and content_state is not null
                    and not scheduled and not cancelled
                order by accepted_at desc, id desc limit 1) b
            """)
        return try rows.reduce(into: [:]) { contents, row in
            contents[try row.decode("key")] = try row.decode(PostgresJSON.self, "content_state").bytes
        }
    }

    private static func fits(_ filter: EventFilter, now: Date) -> PostgresQuery {
        """
        (\(filter.state?.rawValue)::text is null or \(state(now: now)) = \(filter.state?.rawValue))
            and (\(filter.kind)::text is null or e.kind = \(filter.kind))
            and \(filter.season.map { season -> PostgresQuery in "e.season = \(season)" } ?? "true")
            and (\(filter.text)::text is null or position(
                lower(\(filter.text)) in lower(concat_ws(' ', e.key, e.name, e.kind, e.season))) > 0)
            and (\(filter.from)::timestamptz is null or e.starts_at >= \(filter.from))
            and (\(filter.to)::timestamptz is null or e.starts_at < \(filter.to))
            and (\(filter.bundleID?.topic)::text is null or exists (
                select from audiences where event_key = e.key and lower(bundle_id) = \(filter.bundleID?.topic)))
            and \(EventReach.covers(filter.reach, event: "e.key"))
            and \(filter.overdueBy.map { ChannelStore.isEventLate(now: now, tenure: $0) } ?? "true")
        """
    }

    /// `Contract.EventState.init(startsAt:firstUpdateAt:endedAt:cancelledAt:now:)` in SQL. A test compares both.
    static func state(now: Date) -> PostgresQuery {
        """
        case when e.cancelled_at is not null then 'cancelled' when e.ended_at is not null then 'ended'
            when e.first_update_at is not null or e.starts_at <= \(now) then 'live' else 'scheduled' end
        """
    }

    /// Selects events `e`, each with its audiences, and each audience with its channel: the channel in use or, if there is
    /// none, the latest.
    ///
    /// - Parameter rest: the statement after `from`.
    private func select(_ rest: PostgresQuery, now: Date) async throws -> [Versioned<Contract.Event>] {
        let rows = try await database.query(
            """
            select e.key, e.name, e.kind, \(Self.state(now: now)) as state, e.starts_at as "startsAt",
                e.ends_at as "endsAt", case when e.channels_open_before is null then e.channels_open_at end as "channelsOpenAt",
                e.channels_open_before as "channelsOpenBefore", '[]'::json as audiences,
                coalesce(e.metadata, '{}') as metadata, e.topics, s.declaration as start, e.defaults,
                e.created_at as "createdAt", e.updated_at as "updatedAt", e.content, e.reopened_at as "reopenedAt",
                null::text[] as warnings, e.version
            from events e left join lateral (select * from event_starts where event_key = e.key offset 0) s on true
            \(rest)
            """)
        guard !rows.isEmpty else { return [] }
        let keys: [String] = try rows.map { try $0.decode("key") }
        let audiences = try await database.query(
            """
            select u.event_key, u.bundle_id as "bundleId", u.environment, nullif(u.variant, '') as variant,
                u.storage_policy as "storagePolicy", u.delivery, u.priority, u.content, 'none' as "channel.state",
                c.channel_id as "channel.channelId", c.reason as "channel.reason",
                c.next_attempt_at as "channel.nextAttemptAt", c.state as channel_state
            from audiences u left join lateral (
                select * from (select * from channels where event_key = u.event_key offset 0) c
                where \(AudienceColumns.serves("c", "u"))
                order by c.state in \(Channel.State.sql(.servesAudience)) desc, c.created_at desc limit 1
            ) c on true
            where u.event_key = any(\(keys)) order by u.event_key, u.position
            """)
        let ofEvents = try Dictionary(grouping: audiences) { try $0.decode(String.self, "event_key") }
        return try rows.map { row in
            var event: Contract.Event = try row.read()
            event.audiences = try (ofEvents[event.key] ?? []).map { try Self.audience($0, of: event, now: now) }
            return Versioned(value: event, version: try row.decode("version"))
        }
    }

    private static func audience(
        _ row: PostgresRow, of event: Contract.Event, now: Date
    ) throws -> Contract.EventAudience {
        var audience: Contract.EventAudience = try row.read()
        let state: Channel.State? = try row.optionalWord("channel_state")
        if audience.delivery != .channel || state == nil && event.isOver {
            audience.channel = .init(state: .none)
        } else if let state, state != .deleted || event.isOver {
            audience.channel.state = state.shown
        } else {
            // An open event gets another channel in place of a deleted one.
            let held = event.channelsDueAt.flatMap { $0 > now ? $0 : nil }
            audience.channel = .init(state: held == nil ? .pending : .waiting, nextAttemptAt: held)
        }
        return audience
    }
}

/// A filter of events; a member that is `nil` does not filter.
struct EventFilter: Sendable {
    var state: Contract.EventState?
    var kind: String?
    var season: String?
    var bundleID: BundleID?
    /// Any part of the key, the name, the kind or the season, in either case.
    var text: String?
    /// Events that start at this time or later.
    var from: Date?
    /// Events that start before this time.
    var to: Date?
    /// Only events that still have a channel, although by this rule they should no longer need it.
    var overdueBy: ChannelTenure?
    /// Only events within this reach.
    var reach = AppReach.all
}
