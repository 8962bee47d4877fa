internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// What a transaction changed, as far as webhooks are told of it or metrics count it. `Database` writes the messages at
/// the end of the transaction, together with COMMIT, when the facts are final, and counts after the commit.
struct WebhookNews: Sendable {
    /// Deliveries that got their final state.
    var occurrences: [Occurrence] = []
    /// Broadcasts of which a delivery got its final state, or that were scheduled and are no longer.
    var broadcasts: Set<UUID> = []
    /// Events that ended, were cancelled, or were reopened.
    var events: Set<String> = []
    /// Channels that Apple no longer has, and channels that were made or imported.
    var channels: Set<UUID> = []
    private var at = Date.distantPast

    /// Adds to the news of this task's transaction.
    static func note(
        _ occurrences: [Occurrence] = [], broadcasts: some Sequence<UUID> = [],
        events: some Sequence<String> = [], channels: some Sequence<UUID> = [], at now: Date
    ) {
        Database.note(
            WebhookNews(
                occurrences: occurrences, broadcasts: Set(broadcasts), events: Set(events),
                channels: Set(channels), at: now))
    }

    var isEmpty: Bool { occurrences.isEmpty && statements.isEmpty }

    mutating func add(_ other: WebhookNews) {
        occurrences += other.occurrences
        broadcasts.formUnion(other.broadcasts)
        events.formUnion(other.events)
        channels.formUnion(other.channels)
        at = max(at, other.at)
    }

    /// The statements that write the messages. They wait for no other transaction, but for one that is about to commit.
    var statements: [PostgresQuery] {
        (broadcasts.isEmpty ? [] : [lockBroadcasts, settledNews])
            + (events.isEmpty ? [] : [eventStates]) + (channels.isEmpty ? [] : [channelChanges])
    }

    /// The statement that writes a message about one app.
    static func message(
        _ topic: Contract.WebhookTopic, about app: String, at: Date, _ data: some Encodable
    ) -> PostgresQuery {
        messages(
            [topic],
            """
            select \(topic.rawValue)::text as topic, \(at)::timestamptz as at,
                array[\(app)::text] as apps, \(PostgresJSON(bytes: JSONWriter.text(data)))::json as data
            """)
    }

    /// The statement that writes the messages of some facts, one to each webhook that is enabled, has the topic, and
    /// may know of the apps.
    ///
    /// - Parameters:
    ///   - parts: parts of `with` that the facts read, each with a comma after it.
    ///   - facts: a statement with the columns `topic`, `at`, `apps` and `data`, the message's JSON. If `apps` is null,
    ///     only webhooks for all apps get the message.
    static func messages(
        _ topics: [Contract.WebhookTopic], with parts: PostgresQuery = "", _ facts: PostgresQuery
    ) -> PostgresQuery {
        """
        with \(parts) news as materialized (
            select gen_random_uuid() as message, f.* from (\(facts)) f where \(isAwaited(topics))
        ), written as (
            insert into webhook_messages (webhook, message, topic, body, next_attempt_at, created_at)
            select w.id, n.message, n.topic::webhook_topic,
                format('{"type":"%s","timestamp":"%s","data":%s}', n.topic, \(text("n.at")), n.data)::json, n.at, n.at
            from news n join webhooks w on w.state = 'enabled' and n.topic::webhook_topic = any(w.topics)
                and (w.apps is null or n.apps <@ w.apps)
            -- A webhook that is being deleted is locked. Nobody waits for that.
            for key share of w skip locked
            returning id
        )
        select pg_notify(\(WakeTopic.webhooks.rawValue), '') from written limit 1
        """
    }

    /// Whether a webhook wants messages of one of these topics. Otherwise the facts are not read.
    static func isAwaited(_ topics: [Contract.WebhookTopic]) -> PostgresQuery {
        """
        exists (select from webhooks where state = 'enabled'
            and topics && \(topics.map(\.rawValue))::text[]::webhook_topic[])
        """
    }

    /// A time as `RFC3339` writes it.
    static func text(_ time: PostgresQuery) -> PostgresQuery {
        "to_char(\(time) at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
    }

    // MARK: Broadcasts

    /// Two transactions may settle the last two deliveries of a broadcast at the same time, and neither sees the
    /// other's change. With this lock the later one waits for the earlier one, and then sees that all are settled. No
    /// lock is needed if the others are settled already. It is no lock of a row, because a transaction may hold one while
    /// its process hangs. All take these locks last, and in order of IDs.
    private var lockBroadcasts: PostgresQuery {
        """
        select pg_advisory_xact_lock(hashtextextended(b.id::text, 0)) from (
            select k.id from unnest(\(Array(broadcasts))::uuid[]) k(id) cross join lateral (
                -- `offset 0`: the deliveries are read by their broadcast, and not among all that are pending.
                select from (select settled_at from deliveries where broadcast_id = k.id offset 0) d
                where settled_at is null limit 1) d
            where \(Self.isAwaited([.broadcastSettled])) order by k.id) b
        """
    }

    /// A broadcast concerns the apps of its event's audiences, and the apps that it was sent to. If its event has no
    /// audience left, the broadcast concerns no app in particular.
    private var settledNews: PostgresQuery {
        Self.messages(
            [.broadcastSettled],
            """
            select 'broadcast.settled' as topic, t.settled_at as at,
                case when b.event_key is null or u.apps is not null then u.apps || t.apps end as apps,
                (select row_to_json(m) from (
                    select b.id, b.event_key as "eventKey", b.channel, b.event,
                        case when b.cancelled or t.is_cancelled then 'cancelled' else 'done' end as state,
                        \(Self.text("b.accepted_at")) as "acceptedAt",
                        \(Self.text("t.settled_at")) as "settledAt", \(Self.counts(of: "state")) as counts,
                        \(Self.counts(of: "reason", where: "state in ('rejected', 'expired')")) as reasons) m) as data
            from unnest(\(Array(broadcasts))::uuid[]) k(id)
            cross join lateral (select * from broadcasts where id = k.id offset 0) b cross join lateral (
                select coalesce(max(d.settled_at), \(at)) as settled_at,
                    array_agg(distinct l.bundle_id) as apps, bool_and(d.state = 'cancelled') as is_cancelled
                from deliveries d join audiences l on l.lane = d.lane where d.broadcast_id = b.id
                having count(*) = count(d.settled_at)) t
            cross join lateral (select array_agg(distinct bundle_id) as apps
                from audiences where event_key = b.event_key) u
            where not b.scheduled
            """)
    }

    /// How many deliveries of a broadcast `b` have each value of a column, as JSON without spaces.
    private static func counts(of column: PostgresQuery, where condition: PostgresQuery = "true") -> PostgresQuery {
        """
        (select coalesce(json_strip_nulls(json_object_agg(s.value, s.n order by s.value collate "C")), '{}') from (
            select \(column)::text as value, count(*) as n from deliveries
            where broadcast_id = b.id and \(column) is not null and \(condition) group by \(column)) s)
        """
    }

    // MARK: Events and channels

    /// A scheduled end has its entry in the audit log from the time when it was requested, so the actor of an end is
    /// that of the broadcast.
    private var eventStates: PostgresQuery {
        Self.messages(
            [.eventState],
            """
            select 'event.state' as topic, coalesce(e.cancelled_at, e.ended_at, \(at)) as at,
                (select array_agg(bundle_id) from audiences where event_key = e.key) as apps,
                (select row_to_json(m) from (
                    select e.key as "eventKey", \(EventStore.state(now: at)) as state,
                    case when e.ended_at is not null and e.expired_at is null then (
                        select accepted_by from broadcasts
                        where event_key = e.key and event = 'end' and not scheduled and not cancelled
                        order by greatest(accepted_at, send_at) desc limit 1)
                    else (
                        select actor from audit_log where event_key = e.key and action in ('event.cancelled',
                            'event.expired', 'event.reopened', 'event.changed', 'broadcast.withdrawn')
                        order by id desc limit 1) end as "by") m) as data
            from events e where e.key = any(\(events.sorted()))
            """)
    }

    /// The first channel of an audience replaces none, so nobody is told of it.
    private var channelChanges: PostgresQuery {
        // `offset 0`: channels are read by key, whatever the planner thinks of an index by state or app.
        Self.messages(
            [.channelMissing, .channelReplaced],
            """
            select case when r.id is null then 'channel.missing' else 'channel.replaced' end as topic,
                c.changed_at as at, array[c.bundle_id] as apps,
                -- Members that do not apply are left out.
                (select regexp_replace(
                    row_to_json(m)::text, ',"(variant|reason|replaced)":null', '', 'g')::json
                from (
                    select c.id, c.channel_id as "channelId", c.bundle_id as "bundleId", c.environment,
                        nullif(c.variant, '') as variant, c.storage_policy as "storagePolicy",
                        c.event_key as "eventKey", c.reason, row_to_json(r) as replaced) m) as data
            from (select * from channels where id = any(\(Array(channels))) offset 0) c
            left join lateral (
                select e.id, e.channel_id as "channelId"
                from (select * from channels where event_key = c.event_key offset 0) e
                where \(AudienceColumns.isSame("e", "c")) and e.id <> c.id and e.channel_id is not null
                order by e.created_at desc limit 1) r on c.state = 'active'
            where c.state = 'missing' or r.id is not null
            """)
    }
}
