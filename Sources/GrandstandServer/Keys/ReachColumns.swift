internal import Grandstand
internal import Postgres

/// The column `apps` of the tables of keys and webhooks: the apps to which the key or webhook is bound; null: all apps.
enum ReachColumns {
    static func value(_ reach: AppReach) -> [String]? { reach.apps?.map(\.rawValue) }

    static func read(_ row: PostgresRow) throws -> AppReach {
        AppReach(named: try row.decode("apps"))
    }

    /// The condition that a row's apps are all within `reach`.
    static func isWithin(_ reach: AppReach, of table: PostgresQuery) -> PostgresQuery {
        // A reach with a prefix of event keys covers no row of these tables. Webhooks are told of all events of their
        // apps, so webhooks reach beyond the prefix. A key with a prefix cannot manage other keys.
        guard reach.eventKeyPrefix == nil else { return "false" }
        guard let topics = reach.topics else { return "true" }
        return """
            coalesce((select bool_and(lower(r.app) = any(\(topics))) from unnest(\(table).apps) as r(app)), false)
            """
    }

    /// The apps by their registered names. They are locked, so that they stay registered until this transaction ends.
    ///
    /// - Throws: the result of `refusal` for the first app that is not registered.
    static func registered(
        _ apps: [BundleID], on connection: some PostgresQuerying, orThrow refusal: (BundleID) -> Problem
    ) async throws -> Set<BundleID> {
        let rows = try await connection.query(
            """
            select bundle_id from apps a where topic = any(\(apps.map(\.topic))) and not exists (
                select from app_environments where bundle_id = a.bundle_id and deleting_since is not null)
            order by bundle_id for key share
            """)
        let known = Set(try rows.map { try $0.word("bundle_id", as: BundleID.self) })
        let topics = Set(known.map(\.topic))
        if let missing = apps.first(where: { !topics.contains($0.topic) }) { throw refusal(missing) }
        return known
    }
}

extension AppReach {
    /// The apps that a body names: one app in `bundleId`, or several apps in `bundleIds`. A body with neither of these
    /// fields means all apps.
    init(_ one: String?, _ several: [String]?, _ faults: inout RequestFaults) throws(Problem) {
        var apps: [BundleID] = []
        for (index, text) in (several ?? one.map { [$0] } ?? []).enumerated() {
            let app = try BundleID(allowed: text)
            if apps.contains(where: { $0.topic == app.topic }) {
                faults.add("/bundleIds/\(index)", "\(app) stands twice.")
            }
            apps.append(app)
        }
        self = apps.isEmpty ? .all : .only(Set(apps))
    }
}
