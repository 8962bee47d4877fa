internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension PostgresWebhookStore {
    func test(
        _ id: UUID, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> WebhookDelivery? {
        let body = try WebhookTopic.webhookTest.message(.test(webhook: id, by: actor.text), at: now) ?? []
        return try await database.transaction { connection in
            let rows = try await connection.query(
                """
                with told as (
                    insert into webhook_messages (topic, body, created_at)
                    select 'webhook.test', \(String(decoding: body, as: UTF8.self)), \(now)
                    from webhooks where id = \(id) and \(Self.are(bounds)) returning id
                )
                insert into webhook_deliveries (message, webhook, next_attempt_at, created_at)
                select told.id, \(id), \(now), \(now) from told returning id
                """)
            guard let row = rows.first else { return nil }
            try await connection.query("select pg_notify(\(WakeTopic.webhooks.rawValue), '')")
            return try await Self.delivery(try row.decode("id"), of: id, on: connection)
        }
    }

    func deliveries(
        of webhook: UUID, where filter: WebhookDeliveryFilter, _ page: PageRequest
    ) async throws -> Page<WebhookDelivery> {
        let part = try TimePage(page, by: "d.created_at", "d.id", newestFirst: true)
        let rows = try await database.query(
            """
            select \(Self.deliveryColumns) from webhook_deliveries d join webhook_messages m on m.id = d.message
            where d.webhook = \(webhook)
                and (\(filter.state?.rawValue)::text is null
                    or d.state = \(filter.state?.rawValue)::text::webhook_delivery_state)
                and (\(filter.topic?.rawValue)::text is null or m.topic = \(filter.topic?.rawValue)::text::webhook_topic)
                and \(part.condition)
            \(part.order)
            """)
        return part.page(try rows.map(Self.delivery)) { ($0.createdAt, $0.id) }
    }

    func delivery(_ id: UUID, of webhook: UUID) async throws -> WebhookDeliveryLog? {
        let rows = try await database.query(
            """
            select \(Self.deliveryColumns), m.body from webhook_deliveries d
            join webhook_messages m on m.id = d.message where d.id = \(id) and d.webhook = \(webhook)
            """)
        guard let row = rows.first else { return nil }
        let attempts = try await database.query(
            """
            select number::bigint, at, milliseconds::bigint, status::bigint, reason from webhook_attempts
            where delivery = \(id) order by number
            """)
        return WebhookDeliveryLog(
            delivery: try Self.delivery(row), body: Array(try row.decode(String.self, "body").utf8),
            attempts: try attempts.map { attempt in
                WebhookAttempt(
                    number: try attempt.decode("number"), at: try attempt.decode("at"),
                    milliseconds: try attempt.decode("milliseconds"), status: try attempt.decode("status"),
                    reason: try attempt.decode("reason"))
            })
    }

    func replay(
        _ id: UUID, of webhook: UUID, within bounds: WebhookFilter, now: Date
    ) async throws -> WebhookDelivery? {
        try await database.transaction { connection in
            let known = try await connection.query(
                "select from webhooks where id = \(webhook) and \(Self.are(bounds)) for key share")
            guard !known.isEmpty else { return nil }
            // A delivery that is under way keeps its lease, because its outcome is recorded soon.
            try await connection.pipeline([
                """
                update webhook_deliveries set state = 'queued', tries = 0, next_attempt_at = \(now), settled_at = null
                where id = \(id) and webhook = \(webhook) and state <> 'sending'
                """,
                "select pg_notify(\(WakeTopic.webhooks.rawValue), '')",
            ])
            return try await Self.delivery(id, of: webhook, on: connection)
        }
    }

    private static func delivery(
        _ id: UUID, of webhook: UUID, on connection: PostgresConnection
    ) async throws -> WebhookDelivery? {
        try await connection.query(
            """
            select \(deliveryColumns) from webhook_deliveries d join webhook_messages m on m.id = d.message
            where d.id = \(id) and d.webhook = \(webhook)
            """
        ).first.map(delivery)
    }

    private static let deliveryColumns: PostgresQuery = """
        d.id, d.message, m.topic, d.state, d.attempts::bigint as attempts, d.created_at, d.next_attempt_at, d.settled_at,
        d.status::bigint as status, d.reason
        """

    private static func delivery(_ row: PostgresRow) throws -> WebhookDelivery {
        WebhookDelivery(
            id: try row.decode("id"), message: try row.decode("message"), topic: try row.word("topic"),
            state: try row.word("state"), attempts: try row.decode("attempts"), createdAt: try row.decode("created_at"),
            nextAttemptAt: try row.decode("next_attempt_at"), settledAt: try row.decode("settled_at"),
            status: try row.decode("status"), reason: try row.decode("reason"))
    }
}
