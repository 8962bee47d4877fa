internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// A verdict on a claimed message.
struct WebhookSettlement: Sendable {
    var delivery: UUID
    var verdict: WebhookVerdict
    /// When the attempt began.
    var startedAt: Date
    /// How long the attempt took.
    var milliseconds: Int
}

extension WebhookOutbox {
    /// Records a verdict. If another replica has the lease by now, nothing changes. A webhook that wants no more
    /// messages, or failed for `Contract.Webhook.patience`, is disabled.
    func settle(_ settlement: WebhookSettlement, replica: UUID, now: Date) async throws {
        let row = Row(settlement.verdict)
        try await database.transaction { connection in
            let rows = try await connection.query(
                """
                with settled as (
                    update webhook_deliveries set state = \(row.state.rawValue)::text::webhook_delivery_state,
                        next_attempt_at = \(row.nextAttemptAt), leased_by = null, status = \(row.status)::integer,
                        reason = \(row.reason), settled_at = case when \(row.nextAttemptAt == nil) then \(now) end
                    where id = \(settlement.delivery) and state = 'sending' and leased_by = \(replica)
                    returning id, webhook, attempts
                ), logged as (
                    insert into webhook_attempts (delivery, number, at, milliseconds, status, reason)
                    select id, attempts, \(settlement.startedAt), \(settlement.milliseconds)::integer,
                        \(row.status)::integer, \(row.reason)
                    from settled
                )
                select webhook from settled
                """)
            guard let webhook = try rows.first?.decode(UUID.self, "webhook") else { return }
            try await Self.judge(webhook, row, now: now, on: connection)
        }
    }

    /// Applies the verdict to the webhook itself. The webhook's row is written only if it changes.
    private static func judge(
        _ webhook: UUID, _ row: Row, now: Date, on connection: PostgresConnection
    ) async throws {
        guard !row.isSuccess else {
            try await connection.query(
                "update webhooks set failing_since = null where id = \(webhook) and failing_since is not null")
            return
        }
        let disabled = try await connection.query(
            """
            update webhooks set failing_since = coalesce(failing_since, \(now)),
                state = case when \(row.isGone) or failing_since <= \(now.addingTimeInterval(-Contract.Webhook.patience))
                    then 'disabled' else state end,
                version = case when \(row.isGone) or failing_since <= \(now.addingTimeInterval(-Contract.Webhook.patience))
                    then nextval('resource_versions') else version end,
                reason = case when \(row.isGone) then \(row.reason)
                    when failing_since <= \(now.addingTimeInterval(-Contract.Webhook.patience)) and state = 'enabled'
                    then 'every message failed for five days; last: ' || \(row.reason) else reason end
            where id = \(webhook) and (failing_since is null or \(row.isGone) and state = 'enabled'
                or failing_since <= \(now.addingTimeInterval(-Contract.Webhook.patience)) and state = 'enabled')
            returning apps, url, reason, state = 'disabled' and reason is not null as is_disabled
            """)
        guard let change = disabled.first, try change.decode(Bool.self, "is_disabled") else { return }
        let (reason, url): (String?, WebhookURL) = (try change.decode("reason"), try change.word("url"))
        try await connection.pipeline([
            """
            update webhook_deliveries set state = 'cancelled', settled_at = \(now), next_attempt_at = null
            where webhook = \(webhook) and state = 'queued' and \(row.isGone)
            """,
            AuditRows(by: .server, at: now).insert(
                .webhookDisabled, .init(bundleID: try ReachColumns.read(change).onlyApp),
                reason: "\(webhook.uuidString.lowercased()) \(url.origin): \(reason ?? "")"),
        ])
    }

    /// A verdict as the columns have it.
    private struct Row: Sendable {
        var state: Contract.WebhookDeliveryState
        var nextAttemptAt: Date?
        var status: Int?
        var reason: String?
        var isSuccess = false
        var isGone = false

        init(_ verdict: WebhookVerdict) {
            status = verdict.status
            reason = verdict.reason
            switch verdict {
            case .delivered:
                state = .delivered
                isSuccess = true
            case .retry(let at, _, _):
                state = .queued
                nextAttemptAt = at
            case .failed: state = .failed
            case .gone:
                state = .failed
                isGone = true
            }
        }
    }
}
