package import FoundationEssentials
internal import Grandstand
internal import Postgres

/// `PrunableStore` of webhooks: messages that are settled, with the log of their tries. What is queued for a disabled
/// webhook is forgotten too, when it is that old.
package struct PostgresWebhookHistory: PrunableStore {
    private let database: Database

    package init(_ database: Database) { self.database = database }

    package func prune(before cutoff: Date, limit: Int) async throws -> Int {
        try await database.query(
            """
            with old as (
                select m.id from webhook_messages m
                where m.created_at < \(cutoff) and not exists (
                    select from webhook_deliveries d join webhooks w on w.id = d.webhook
                    where d.message = m.id and (d.settled_at >= \(cutoff)
                        or d.settled_at is null and (w.state = 'enabled' or d.state = 'sending')))
                order by m.created_at limit \(limit) for update skip locked
            )
            delete from webhook_messages m using old where m.id = old.id
            """
        ).affectedRows
    }
}
