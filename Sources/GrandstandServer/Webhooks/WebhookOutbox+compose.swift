internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Postgres

/// Messages are made from the notes that database triggers (in the migrations) write when something happens. A note is
/// deleted in the transaction that writes its message. If a process dies during this transaction, it has neither
/// written the message nor deleted the note.
extension PostgresWebhookOutbox {
    func compose(now: Date, limit: Int) async throws -> Int {
        try await database.transaction { connection in
            let taken = try await connection.pipeline([
                Self.takeNotes(limit), Self.takeSettlements(limit),
                """
                select id, apps from webhooks
                where state = 'enabled' and \(WebhookTopic.broadcastSettled.rawValue)::text::webhook_topic = any(topics)
                """,
            ])
            var messages = try taken[0].map(Self.message)
            let broadcasts = Set(try taken[1].map { try $0.decode(UUID.self, "broadcast_id") })
            let listeners = try taken[2].map { row in
                (webhook: try row.decode(UUID.self, "id"), reach: try ReachColumns.read(row))
            }
            if !broadcasts.isEmpty, !listeners.isEmpty {
                for row in try await connection.query(Self.settled(Array(broadcasts), now)) {
                    let apps = try Self.apps(of: row)
                    let key: EventKey? = try row.optionalWord("event_key")
                    let webhooks = listeners.filter { $0.reach.covers(event: key, of: apps) }.map(\.webhook)
                    messages.append(try Self.settledMessage(row, webhooks))
                }
            }
            try await Self.write(messages.compactMap { $0 }, on: connection)
            return taken[0].count + taken[1].count
        }
    }

    /// A message that is written, and the webhooks that get it.
    private struct Message {
        let id = UUID.drawn()
        let topic: WebhookTopic
        let at: Date
        let body: [UInt8]
        /// The broadcast that the message is about. The table has at most one message about a broadcast.
        var broadcast: UUID?
        let webhooks: [UUID]

        /// `nil` if there is nothing to report, or if no webhook gets the message.
        init?(_ topic: WebhookTopic, at: Date, _ facts: WebhookFacts, broadcast: UUID? = nil, to webhooks: [UUID])
            throws
        {
            guard !webhooks.isEmpty, let body = try topic.message(facts, at: at) else { return nil }
            self.topic = topic
            self.at = at
            self.body = body
            self.broadcast = broadcast
            self.webhooks = webhooks
        }
    }

    // MARK: Notes

    /// Deletes the oldest notes and reads them. If only a newer version knows a note's topic, the note is left for a
    /// process of that version.
    private static func takeNotes(_ limit: Int) -> PostgresQuery {
        """
        with taken as (
            delete from webhook_notes where id in (
                select id from webhook_notes where topic::text = any(\(WebhookTopic.allCases.map(\.rawValue)))
                order by id limit \(limit) for update skip locked)
            returning *
        )
        select n.topic, n.at, n.webhooks, n.detail, (n.replaced ->> 'id')::uuid as replaced_id,
            n.replaced ->> 'channel_id' as replaced_channel_id, \(PostgresChannelStore.columns)
        from taken n left join lateral json_populate_record(null::channels, n.channel) c on n.channel is not null
        order by n.id
        """
    }

    private static func message(_ row: PostgresRow) throws -> Message? {
        let facts: WebhookFacts
        if let detail = try row.decode(PostgresJSON?.self, "detail") {
            facts = .detail(try JSONValue(parsing: detail.bytes, maximumValues: .max))
        } else {
            let replaced = try row.decode(UUID?.self, "replaced_id")
            let channelID: String? = try row.decode("replaced_channel_id")
            facts = .channel(try PostgresChannelStore.channel(row), replaced: replaced.map { ($0, channelID) })
        }
        return try Message(try row.word("topic"), at: try row.decode("at"), facts, to: try row.decode("webhooks"))
    }

    // MARK: Settled broadcasts

    private static func takeSettlements(_ limit: Int) -> PostgresQuery {
        """
        delete from webhook_settlements where id in (
            select id from webhook_settlements order by id limit \(limit) for update skip locked)
        returning broadcast_id
        """
    }

    /// Those of these broadcasts that have no unsettled delivery, with the apps that each broadcast concerns. The rows are in order, so that two transactions about the same broadcasts do not deadlock.
    private static func settled(_ broadcasts: [UUID], _ now: Date) -> PostgresQuery {
        """
        select b.id, b.event_key, b.channel, b.event, b.accepted_at, b.cancelled, t.sent_to, u.audiences,
            coalesce(t.settled_at, \(now)) as settled_at, c.states, c.counts, r.reasons, r.reason_counts
        from broadcasts b
        cross join lateral (
            select max(d.settled_at) as settled_at, array_agg(distinct l.bundle_id) as sent_to
            from deliveries d join lanes l on l.id = d.lane where d.broadcast_id = b.id) t
        cross join lateral (
            select array_agg(distinct bundle_id) as audiences from audiences where event_key = b.event_key) u
        cross join lateral (
            select array_agg(s.state::text) as states, array_agg(s.n) as counts from (
                select d.state, count(*) as n from deliveries d where d.broadcast_id = b.id group by d.state) s) c
        cross join lateral (
            select array_agg(s.reason order by s.reason) as reasons, array_agg(s.n order by s.reason) as reason_counts
            from (
                select d.reason, count(*) as n from deliveries d
                where d.broadcast_id = b.id and d.state in ('rejected', 'expired') and d.reason is not null
                group by d.reason) s) r
        where b.id = any(\(broadcasts)) and not b.scheduled
            and not exists (select from deliveries d where d.broadcast_id = b.id and d.settled_at is null)
        order by b.id
        """
    }

    /// The apps that a broadcast concerns: the apps of its event's audiences, and the apps that it was sent to. If its
    /// event has no audience left, the broadcast concerns no app in particular.
    private static func apps(of row: PostgresRow) throws -> [BundleID] {
        let audiences = try row.decode([String]?.self, "audiences") ?? []
        if audiences.isEmpty, try row.decode(String?.self, "event_key") != nil { return [] }
        return (audiences + (try row.decode([String]?.self, "sent_to") ?? [])).compactMap(BundleID.init)
    }

    private static func settledMessage(_ row: PostgresRow, _ webhooks: [UUID]) throws -> Message? {
        let id: UUID = try row.decode("id")
        let settledAt: Date = try row.decode("settled_at")
        var counts: [Delivery.State: Int] = [:]
        for (text, count) in zip(
            try row.decode([String]?.self, "states") ?? [], try row.decode([Int]?.self, "counts") ?? [])
        {
            guard let state = Delivery.State(rawValue: text) else { throw UnknownWord(column: "states", text: text) }
            counts[state] = count
        }
        let reasons = zip(
            try row.decode([String]?.self, "reasons") ?? [], try row.decode([Int]?.self, "reason_counts") ?? [])
        let settled = SettledBroadcast(
            id: id, event: try row.word("event"), acceptedAt: try row.decode("accepted_at"),
            isCancelled: try row.decode("cancelled"), counts: counts, eventKey: try row.optionalWord("event_key"),
            channel: try row.decode("channel"), settledAt: settledAt,
            reasons: reasons.map { (reason: $0, count: $1) })
        return try Message(.broadcastSettled, at: settledAt, .broadcast(settled), broadcast: id, to: webhooks)
    }

    // MARK: Messages

    private static func write(_ messages: [Message], on connection: PostgresConnection) async throws {
        guard !messages.isEmpty else { return }
        let pairs = messages.flatMap { message in message.webhooks.map { (message.id, $0) } }
        try await connection.pipeline([
            """
            with told as (
                insert into webhook_messages (id, topic, broadcast_id, body, created_at)
                select m.id, m.topic::webhook_topic, m.broadcast, m.body, m.at
                from unnest(\(messages.map(\.id)), \(messages.map(\.topic.rawValue)), \(messages.map(\.broadcast)),
                    \(messages.map { String(decoding: $0.body, as: UTF8.self) }), \(messages.map(\.at)))
                    as m(id, topic, broadcast, body, at)
                on conflict (broadcast_id) do nothing returning id, created_at
            )
            insert into webhook_deliveries (message, webhook, next_attempt_at, created_at)
            select told.id, w.id, told.created_at, told.created_at
            from unnest(\(pairs.map(\.0)), \(pairs.map(\.1))) as p(message, webhook)
            join told on told.id = p.message join webhooks w on w.id = p.webhook
            """,
            "select pg_notify(\(WakeTopic.webhooks.rawValue), '')",
        ])
    }
}
