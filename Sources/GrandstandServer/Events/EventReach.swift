internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Decides whether events and broadcasts are within a caller's reach, by the audiences that the event has now. An app
/// whose audiences were removed no longer counts, whatever was sent to it.
enum EventReach {
    /// The condition that an event is within reach; `true` if the reach has no limit.
    ///
    /// - Parameter key: an expression for the event's key.
    static func covers(_ reach: AppReach, event key: PostgresQuery) -> PostgresQuery {
        let isOfApps = reach.topics.map { topics -> PostgresQuery in
            """
            coalesce((
                select bool_and(lower(bundle_id) = any(\(topics))) from audiences where event_key = \(key)), false)
            """
        }
        guard let prefix = reach.eventKeyPrefix else { return isOfApps ?? "true" }
        return "(starts_with(\(key), \(prefix.rawValue)) and \(isOfApps ?? "true"))"
    }

    /// The condition that the lane `l` of a delivery is within reach; `true` if all apps are within reach.
    static func covers(_ reach: AppReach, lane: PostgresQuery) -> PostgresQuery {
        reach.topics.map { topics in "lower(\(lane).bundle_id) = any(\(topics))" } ?? "true"
    }

    /// Whether an event is within reach, by what this transaction sees.
    static func reaches(
        _ reach: AppReach, event key: EventKey, on connection: some PostgresQuerying
    ) async throws -> Bool { try await isMet(covers(reach, event: "\(key.rawValue)"), of: reach, connection) }

    private static func isMet(
        _ condition: PostgresQuery, of reach: AppReach, _ connection: some PostgresQuerying
    ) async throws -> Bool {
        guard reach != .all else { return true }
        return try await connection.query("select \(condition) as is_met")[0].decode("is_met")
    }

    /// Refuses the key of a new event if other API keys are bound to a prefix of it.
    ///
    /// - Throws: `forbidden`.
    static func refuseReserved(
        _ key: EventKey, for reach: AppReach, now: Date, on connection: some PostgresQuerying
    ) async throws {
        guard reach != .all, reach.eventKeyPrefix == nil else { return }
        let reserved = try await connection.query(
            """
            select from api_keys where starts_with(\(key.rawValue), event_key_prefix)
                and \(KeyStore.isActive(at: now)) limit 1
            """)
        guard reserved.isEmpty else { throw Problem.takenEvent(key) }
    }

    /// Whether a broadcast of an event, or to a channel, is within reach. A broadcast is not within reach if it was
    /// sent only to other apps, before the event had an audience of an app within reach.
    static func reaches(
        _ reach: AppReach, broadcast id: UUID, on connection: some PostgresQuerying
    ) async throws -> Bool {
        try await isMet(
            "exists (select from broadcasts b where b.id = \(id) and \(covers(reach, broadcast: "b")))", of: reach,
            connection)
    }

    /// The condition that a broadcast is within reach; `true` if the reach has no limit. The broadcast's event or
    /// channel must be within reach. If the broadcast has deliveries, at least one must be to an app within reach.
    ///
    /// - Parameter alias: the alias of the row of `broadcasts`.
    static func covers(_ reach: AppReach, broadcast alias: PostgresQuery) -> PostgresQuery {
        guard reach != .all else { return "true" }
        let isOfWholeApps: PostgresQuery = reach.eventKeyPrefix == nil ? "true" : "false"
        return """
            (case when \(alias).event_key is not null then \(covers(reach, event: "\(alias).event_key"))
                    and (not exists (select from deliveries rd where rd.broadcast_id = \(alias).id)
                        or exists (
                            select from deliveries rd join audiences l on l.lane = rd.lane
                            where rd.broadcast_id = \(alias).id and \(covers(reach, lane: "l"))))
                else \(isOfWholeApps) and exists (
                    select from channels rc where rc.id = \(alias).channel and \(covers(reach, lane: "rc")))
                end)
            """
    }
}
