internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// Messages are made from the notes that database triggers (in the migrations) write when something happens. A note is
/// deleted in the transaction that writes its message. If a process dies during this transaction, it has neither
/// written the message nor deleted the note.
extension WebhookOutbox {
    /// Writes the messages for the notes that were recorded since the last call. Whether all deliveries of a settled
    /// broadcast have their final states is checked here, because this is certain only after a commit.
    ///
    /// - Returns: the number of notes that were processed. If it is less than `limit`, none is left.
    func compose(now: Date, limit: Int) async throws -> Int {
        try await database.transaction { connection in
            let taken = try await connection.pipeline([
                Self.takeNotes(limit), Self.takeSettlements(limit),
                """
                select id, apps from webhooks
                where state = 'enabled' and \(Contract.WebhookTopic.broadcastSettled.rawValue)::text::webhook_topic = any(topics)
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
        let topic: Contract.WebhookMessageType
        let at: Date
        let body: [UInt8]
        /// The broadcast that the message is about. The table has at most one message about a broadcast.
        var broadcast: UUID?
        let webhooks: [UUID]

        /// `nil` if there is nothing to report, or if no webhook gets the message.
        init?(
            _ topic: Contract.WebhookMessageType, at: Date, _ data: (some Encodable)?, broadcast: UUID? = nil,
            to webhooks: [UUID]
        ) {
            guard !webhooks.isEmpty, let data else { return nil }
            self.topic = topic
            self.at = at
            body = JSONWriter.text(
                Contract.WebhookMessage(type: topic, timestamp: at, data: RawJSON(writing: data)))
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
                select id from webhook_notes where topic::text = any(\(Contract.WebhookMessageType.allCases.map(\.rawValue)))
                order by id limit \(limit) for update skip locked)
            returning *
        )
        select n.topic, n.at, n.webhooks, n.detail, n.replaced ->> 'id' as "replaced.id",
            n.replaced ->> 'channel_id' as "replaced.channelId", c.id, c.channel_id as "channelId",
            c.bundle_id as "bundleId", c.environment, nullif(c.variant, '') as variant,
            c.storage_policy as "storagePolicy", c.event_key as "eventKey", c.reason
        from taken n left join lateral json_populate_record(null::channels, n.channel) c on n.channel is not null
        order by n.id
        """
    }

    private static func message(_ row: PostgresRow) throws -> Message? {
        let (topic, at): (Contract.WebhookMessageType, Date) = (try row.word("topic"), try row.decode("at"))
        let webhooks: [UUID] = try row.decode("webhooks")
        func detail<Detail: Codable>(_ type: Detail.Type) throws -> Detail {
            let bytes = try row.decode(PostgresJSON.self, "detail").bytes
            return try JSONValue(parsing: bytes, maximumValues: .max).decode()
        }
        func message(_ data: (some Encodable)?) -> Message? { Message(topic, at: at, data, to: webhooks) }
        switch topic {
        case .eventState: return message(try detail(Contract.EventStateChanged.self))
        case .channelMissing: return message(try row.read(Contract.ChannelLost.self))
        case .channelReplaced: return message(try row.read(Contract.ChannelReplaced.self))
        case .quotaLevel: return message(try detail(Contract.QuotaLevelChanged.self))
        case .reconciliationFound:
            let run = try detail(Run.self)
            return message(Contract.ReconciliationFound(run.report, standing: run.standing))
        case .capabilityOff: return message(try detail(Contract.CapabilityOff.self))
        case .throttleBegan: return message(try detail(Contract.ThrottleBegan.self))
        case .throttleEnded: return message(try detail(Contract.ThrottleEnded.self))
        case .broadcastSettled, .webhookTest, .unknown:
            throw Problem(.internalError, "Notes have no topic \(topic.rawValue). Report the request ID.")
        }
    }

    /// A reconciliation's report, and the alarm before its run.
    private struct Run: Codable {
        var report: Contract.Reconciliation
        var standing: Contract.ReconciliationAlarm?
    }

    // MARK: Settled broadcasts

    private static func takeSettlements(_ limit: Int) -> PostgresQuery {
        """
        delete from webhook_settlements where id in (
            select id from webhook_settlements order by id limit \(limit) for update skip locked)
        returning broadcast_id
        """
    }

    /// Those of these broadcasts that have no unsettled delivery, with the apps that each broadcast concerns. The rows
    /// are in order, so that two transactions about the same broadcasts do not deadlock.
    private static func settled(_ broadcasts: [UUID], _ now: Date) -> PostgresQuery {
        """
        select b.id, b.event_key, b.channel, b.event, b.accepted_at, b.cancelled, t.sent_to, u.audiences,
            coalesce(t.settled_at, \(now)) as settled_at, coalesce(c.counts, '{}') as counts,
            coalesce(r.reasons, '{}') as reasons
        from broadcasts b
        cross join lateral (
            select max(d.settled_at) as settled_at, array_agg(distinct l.bundle_id) as sent_to
            from deliveries d join lanes l on l.id = d.lane where d.broadcast_id = b.id) t
        cross join lateral (
            select array_agg(distinct bundle_id) as audiences from audiences where event_key = b.event_key) u
        cross join lateral (
            select json_object_agg(s.state, s.n) as counts from (
                select d.state, count(*) as n from deliveries d where d.broadcast_id = b.id group by d.state) s) c
        cross join lateral (
            select json_object_agg(s.reason, s.n) as reasons from (
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
        func counts(_ column: String) throws -> [String: Int] {
            try JSONValue(parsing: try row.decode(PostgresJSON.self, column).bytes).decode()
        }
        let (id, settledAt): (UUID, Date) = (try row.decode("id"), try row.decode("settled_at"))
        let deliveries = try counts("counts")
        let settled = Contract.BroadcastSettled(
            id: id.words, eventKey: try row.decode("event_key"),
            channel: try row.decode(UUID?.self, "channel")?.words,
            event: try row.word("event"),
            state: Contract.BroadcastState(
                isScheduled: false, isCancelled: try row.decode("cancelled"),
                deliveries: deliveries.keys.map { Contract.DeliveryState(rawValue: $0) }),
            acceptedAt: try row.decode("accepted_at"),
            settledAt: settledAt, counts: deliveries, reasons: try counts("reasons"))
        return Message(.broadcastSettled, at: settledAt, settled, broadcast: id, to: webhooks)
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
