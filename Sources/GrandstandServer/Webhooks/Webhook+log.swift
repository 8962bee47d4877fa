internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

extension WebhookStore {
    /// Queues a message of the topic `webhook.test` for this webhook only. The webhook may be disabled.
    ///
    /// - Throws: the errors of `webhook`.
    func test(_ id: UUID, _ caller: Caller) async throws -> Contract.WebhookDelivery {
        _ = try await webhook(id, caller)
        let now = now()
        let data = RawJSON(writing: Contract.WebhookTest(webhook: id.words, by: caller.actor.text))
        let body = JSONWriter.text(Contract.WebhookMessage(type: .webhookTest, timestamp: now, data: data))
        return try await database.transaction { connection in
            let rows = try await connection.query(
                """
                with told as (
                    insert into webhook_messages (topic, body, created_at)
                    select 'webhook.test', \(String(decoding: body, as: UTF8.self)), \(now)
                    from webhooks where \(Self.is(id, caller)) returning id
                )
                insert into webhook_deliveries (message, webhook, next_attempt_at, created_at)
                select told.id, \(id), \(now), \(now) from told returning id
                """)
            guard let row = rows.first else { throw Problem.webhookNotFound(id) }
            try await connection.query("select pg_notify(\(WakeTopic.webhooks.rawValue), '')")
            return try await Self.delivery(try row.decode("id"), of: id, on: connection).read()
        }
    }

    /// The deliveries, the newest first.
    ///
    /// - Parameters:
    ///   - state: `nil` does not filter; likewise `topic`.
    /// - Throws: the errors of `webhook`.
    func deliveries(
        of id: UUID, state: Contract.WebhookDeliveryState? = nil, topic: Contract.WebhookMessageType? = nil,
        _ page: PageRequest, _ caller: Caller
    ) async throws -> Contract.Page<Contract.WebhookDelivery> {
        _ = try await webhook(id, caller)
        let part = try TimePage(page, by: "d.created_at", "d.id", newestFirst: true)
        let rows = try await database.query(
            """
            select \(Self.deliveryColumns) from webhook_deliveries d join webhook_messages m on m.id = d.message
            where d.webhook = \(id)
                and (\(state?.rawValue)::text is null or d.state = \(state?.rawValue)::text::webhook_delivery_state)
                and (\(topic?.rawValue)::text is null or m.topic = \(topic?.rawValue)::text::webhook_topic)
                and \(part.condition)
            \(part.order)
            """)
        return part.page(try rows.read()) { ($0.createdAt, $0.id) }
    }

    /// One delivery with its body, byte for byte as it was signed, and all attempts, the oldest first.
    ///
    /// - Throws: the errors of `webhook`; `webhook-delivery-not-found`.
    func delivery(_ id: UUID, of webhook: UUID, _ caller: Caller) async throws -> Contract.WebhookDeliveryLog {
        _ = try await self.webhook(webhook, caller)
        let row = try await Self.delivery(id, of: webhook, on: database)
        let attempts = try await database.query(
            """
            select number::bigint as attempt, at, milliseconds::bigint as milliseconds, status::bigint as status, reason
            from webhook_attempts where delivery = \(id) order by number
            """)
        return Contract.WebhookDeliveryLog(
            message: RawJSON(unchecked: try row.decode(String.self, "body").utf8), log: try attempts.read(),
            try row.read())
    }

    /// Posts a settled message again, at once and with all retries. A message that is still queued is posted at once.
    ///
    /// - Throws: the errors of `delivery`.
    func replay(_ id: UUID, of webhook: UUID, _ caller: Caller) async throws -> Contract.WebhookDelivery {
        _ = try await self.webhook(webhook, caller)
        let now = now()
        return try await database.transaction { connection in
            let known = try await connection.query(
                "select from webhooks where \(Self.is(webhook, caller)) for key share")
            guard !known.isEmpty else { throw Problem.webhookNotFound(webhook) }
            // A delivery that is under way keeps its lease, because its outcome is recorded soon.
            try await connection.pipeline([
                """
                update webhook_deliveries set state = 'queued', tries = 0, next_attempt_at = \(now), settled_at = null
                where id = \(id) and webhook = \(webhook) and state <> 'sending'
                """,
                "select pg_notify(\(WakeTopic.webhooks.rawValue), '')",
            ])
            return try await Self.delivery(id, of: webhook, on: connection).read()
        }
    }

    private static func delivery(
        _ id: UUID, of webhook: UUID, on connection: some PostgresQuerying
    ) async throws -> PostgresRow {
        let rows = try await connection.query(
            """
            select \(deliveryColumns), m.body from webhook_deliveries d
            join webhook_messages m on m.id = d.message where d.id = \(id) and d.webhook = \(webhook)
            """)
        guard let row = rows.first else {
            throw Problem(.webhookDeliveryNotFound, "The webhook has no delivery \(id.words); old ones are forgotten.")
        }
        return row
    }

    private static let deliveryColumns: PostgresQuery = """
        d.id, 'msg_' || d.message as "messageId", m.topic, d.state, d.attempts::bigint as attempts,
        d.status::bigint as status, d.reason, d.created_at as "createdAt", d.next_attempt_at as "nextAttemptAt",
        d.settled_at as "settledAt"
        """
}
