internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Levels in the table `quota_levels`.
package struct PostgresQuotaLevels: QuotaLevels {
    private let database: Database

    package init(_ database: Database) { self.database = database }

    package func areWatched() async throws -> Bool {
        let rows = try await database.query(
            """
            select exists (select from webhooks where state = 'enabled'
                and \(WebhookTopic.quotaLevel.rawValue)::text::webhook_topic = any(topics)) as watched
            """)
        return try rows.first?.decode(Bool.self, "watched") ?? false
    }

    package func note(_ quotas: [Quota], now: Date) async throws {
        let quotas = quotas.sorted { ($0.bundleID, $0.environment.rawValue) < ($1.bundleID, $1.environment.rawValue) }
        try await database.transaction { connection in
            for quota in quotas {
                let (app, environment) = (quota.bundleID.rawValue, quota.environment.rawValue)
                try await connection.query(
                    """
                    insert into quota_levels (bundle_id, environment, level)
                    select bundle_id, environment, 'ok' from app_environments
                    where bundle_id = \(app) and environment = \(environment)::text::environment
                    on conflict do nothing
                    """)
                // Locked first: of two replicas that see the same change, one tells.
                let before = try await connection.query(
                    """
                    select level from quota_levels where bundle_id = \(app)
                        and environment = \(environment)::text::environment and level <> \(quota.level.rawValue)
                    for update
                    """)
                guard let row = before.first else { continue }
                let previous: String = try row.decode("level")
                try await connection.pipeline([
                    """
                    update quota_levels set level = \(quota.level.rawValue)
                    where bundle_id = \(app) and environment = \(environment)::text::environment
                    """,
                    """
                    select note_for_webhooks(\(WebhookTopic.quotaLevel.rawValue)::text::webhook_topic, \(now), \(app),
                        detail => \(PostgresJSON(bytes: Self.detail(quota, previous))))
                    """,
                ])
            }
        }
    }

    private static func detail(_ quota: Quota, _ previous: String) -> [UInt8] {
        JSONWriter.text { object in
            object.member("quota", Optional(quota))
            object.member("previousLevel", previous)
        }
    }
}
