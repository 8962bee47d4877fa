internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The last known quota level of each app and environment, in `app_environments.quota_level`, so that a change is
/// reported once, by one replica.
extension ChannelStore {
    /// Whether an enabled webhook has the topic of quota levels.
    func areLevelsWatched() async throws -> Bool {
        let rows = try await database.query("select \(WebhookNews.isAwaited([.quotaLevel])) as watched")
        return try rows.first?.decode(Bool.self, "watched") ?? false
    }

    /// Stores the quotas' levels. For each level that changed, the messages to webhooks are written in the same
    /// transaction. The previous level of an app that was never seen before is `ok`.
    func noteLevels(of quotas: [Quota], now: Date) async throws {
        let quotas = quotas.sorted { ($0.bundleID, $0.environment.rawValue) < ($1.bundleID, $1.environment.rawValue) }
        try await database.transaction { connection in
            for quota in quotas {
                let level = quota.level.rawValue
                let app = AppColumns.isOf(
                    AppEnvironment(bundleID: quota.bundleID, environment: quota.environment), row: "ae")
                // The row is locked first, so that only one of two replicas reports a change.
                let before = try await connection.query(
                    "select quota_level from app_environments ae where \(app) and quota_level <> \(level) for update")
                guard let row = before.first else { continue }
                let previous: String = try row.decode("quota_level")
                try await connection.pipeline([
                    "update app_environments ae set quota_level = \(level) where \(app)",
                    WebhookNews.message(
                        .quotaLevel, about: quota.bundleID.rawValue, at: now, Self.change(quota, from: previous)),
                ])
            }
        }
    }

    private static func change(_ quota: Quota, from previous: String) -> Contract.QuotaLevelChanged {
        let quota = Contract.Quota(quota)
        return Contract.QuotaLevelChanged(
            bundleId: quota.bundleId, environment: quota.environment, level: quota.level,
            previousLevel: .init(rawValue: previous), limit: quota.limit, used: quota.used,
            reserved: quota.reserved, available: quota.available, unmanaged: quota.unmanaged)
    }
}
