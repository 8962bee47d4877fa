internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

extension WebhookStore {
    /// Queues a message of the topic `webhook.test` for this webhook only. The webhook may be disabled.
    ///
    /// - Throws: the errors of `webhook`.
    func test(_ id: UUID, _ caller: APIKey) async throws -> Contract.WebhookDelivery {
        let now = now()
        let data = RawJSON(writing: Contract.WebhookTest(webhook: id.text, by: caller.actor.text))
        let body = JSONWriter.text(Contract.WebhookMessage(type: .webhookTest, timestamp: now, data: data))
        return try await database.transaction { connection in
            _ = try await Self.webhook(id, caller, "for key share", on: connection)
            return try await connection.pipeline([
                """
                with d as (
                    insert into webhook_messages (webhook, message, topic, body, next_attempt_at, created_at)
                    values (\(id), gen_random_uuid(), 'webhook.test', \(PostgresJSON(bytes: body)), \(now), \(now))
                    returning *
                )
                select \(Self.deliveryColumns) from d
                """, WakeUps.notify([.webhooks]),
            ])[0][0].read()
        }
    }

    /// The deliveries, the newest first.
    ///
    /// - Parameters:
    ///   - state: `nil` does not filter; likewise `topic`.
    /// - Throws: the errors of `webhook`.
    func deliveries(
        of id: UUID, state: Contract.WebhookDeliveryState? = nil,
        topic: Contract.WebhookMessageType? = nil, _ page: PageRequest, _ caller: APIKey
    ) async throws -> Contract.Page<Contract.WebhookDelivery> {
        _ = try await webhook(id, caller)
        return try await database.page(
            page, newestFirst: true,
            of: """
                select \(Self.deliveryColumns) from webhook_messages d where d.webhook = \(id)
                    and coalesce(d.state::text = \(state?.rawValue), true)
                    and coalesce(d.topic::text = \(topic?.rawValue), true)
                """)
    }

    /// One delivery with its body, byte for byte as it was signed, and all attempts, the oldest first.
    ///
    /// - Throws: the errors of `webhook`; `webhook-delivery-not-found`.
    func delivery(_ id: UUID, of webhook: UUID, _ caller: APIKey) async throws -> Contract.WebhookDeliveryLog {
        _ = try await self.webhook(webhook, caller)
        let rows = try await database.query(
            """
            select \(Self.deliveryColumns), d.body as message, d.log::json as log from webhook_messages d
            where d.id = \(id) and d.webhook = \(webhook)
            """)
        guard let row = rows.first else { throw Self.noDelivery(id) }
        return try row.read()
    }

    /// Posts a settled message again, at once and with all retries. A message that is still queued is posted at once. A
    /// message that is under way keeps its lease, because its outcome is recorded soon.
    ///
    /// - Throws: the errors of `delivery`.
    func replay(_ id: UUID, of webhook: UUID, _ caller: APIKey) async throws -> Contract.WebhookDelivery {
        let now = now()
        return try await database.transaction { connection in
            _ = try await Self.webhook(webhook, caller, "for key share", on: connection)
            try await connection.query(
                """
                update webhook_messages set state = 'queued', tries = 0, next_attempt_at = \(now), settled_at = null
                where id = \(id) and webhook = \(webhook) and state <> 'sending'
                """)
            let rows = try await connection.pipeline([
                """
                select \(Self.deliveryColumns) from webhook_messages d where d.id = \(id) and d.webhook = \(webhook)
                """, WakeUps.notify([.webhooks]),
            ])[0]
            guard let row = rows.first else { throw Self.noDelivery(id) }
            return try row.read()
        }
    }

    private static func noDelivery(_ id: UUID) -> Problem {
        Problem(.webhookDeliveryNotFound, "The webhook has no delivery \(id.text); old ones are forgotten.")
    }

    private static let deliveryColumns: PostgresQuery = """
        d.id, 'msg_' || d.message as "messageId", d.topic, d.state,
        d.attempts::bigint as attempts, (d.log -> -1 ->> 'status')::bigint as status,
        d.log -> -1 ->> 'reason' as reason, d.created_at as "createdAt",
        d.next_attempt_at as "nextAttemptAt", d.settled_at as "settledAt"
        """
}
