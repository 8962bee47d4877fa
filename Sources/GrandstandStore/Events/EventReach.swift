internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Whether events and broadcasts are within a caller's reach, decided by the audiences the event has now: an app that
/// was removed has no part in it any more, whatever was sent to it.
enum EventReach {
    /// The condition on an event, or `true`.
    ///
    /// - Parameter key: an expression for the event's key.
    static func covers(_ reach: AppReach, event key: PostgresQuery) -> PostgresQuery {
        let isOfApps = reach.topics.map { topics -> PostgresQuery in
            """
            coalesce((
                select bool_and(ra.topic = any(\(topics))) from audiences ru join apps ra using (bundle_id)
                where ru.event_key = \(key)), false)
            """
        }
        guard let prefix = reach.eventKeyPrefix else { return isOfApps ?? "true" }
        return "(starts_with(\(key), \(prefix.rawValue)) and \(isOfApps ?? "true"))"
    }

    /// The condition on the lane `l` of a delivery, or `true`.
    static func covers(_ reach: AppReach, lane: PostgresQuery) -> PostgresQuery {
        guard let topics = reach.topics else { return "true" }
        return "exists (select from apps ra where ra.bundle_id = \(lane).bundle_id and ra.topic = any(\(topics)))"
    }

    /// Refuses an event that is out of reach, by what this transaction sees.
    ///
    /// - Throws: `event-not-found`, or `forbidden` for who wants to declare it. An event that is not there is not refused.
    static func require(
        _ reach: AppReach, event key: EventKey, declaring: Bool = false, on connection: some PostgresQuerying
    ) async throws {
        guard reach != .all else { return }
        let known = try await connection.query(
            "select \(covers(reach, event: "e.key")) as is_covered from events e where e.key = \(key.rawValue)")
        guard try known.first?.decode(Bool.self, "is_covered") ?? true else {
            throw declaring ? Problem.takenEvent(key) : Problem.noEvent(key)
        }
    }

    /// Refuses a name for a new event where other keys are bound to a prefix of it.
    ///
    /// - Throws: `forbidden`.
    static func requireFree(
        _ key: EventKey, for reach: AppReach, now: Date, on connection: some PostgresQuerying
    ) async throws {
        guard reach != .all, reach.eventKeyPrefix == nil else { return }
        let reserved = try await connection.query(
            """
            select from api_keys where starts_with(\(key.rawValue), event_key_prefix)
                and \(PostgresKeyStore.isActive(at: now)) limit 1
            """)
        guard reserved.isEmpty else { throw Problem.takenEvent(key) }
    }

    /// Whether a broadcast of an event, or to a channel, is within reach. One that went to other apps only, before the event
    /// was this app's, is out of reach too.
    static func reaches(
        _ reach: AppReach, broadcast id: UUID, on connection: some PostgresQuerying
    ) async throws -> Bool {
        guard reach != .all else { return true }
        let known = try await connection.query(
            "select \(covers(reach, broadcast: "b")) as is_covered from broadcasts b where b.id = \(id)")
        return try known.first?.decode(Bool.self, "is_covered") ?? true
    }

    /// The condition on a broadcast, or `true`: its event is within reach, or the channel or token it is for; and of those that
    /// got deliveries, one at least went to an app within reach.
    ///
    /// - Parameter alias: of the row of `broadcasts`.
    static func covers(_ reach: AppReach, broadcast alias: PostgresQuery) -> PostgresQuery {
        guard reach != .all else { return "true" }
        let isOfWholeApps: PostgresQuery = reach.eventKeyPrefix == nil ? "true" : "false"
        return """
            (case when \(alias).event_key is not null then \(covers(reach, event: "\(alias).event_key"))
                    and (not exists (select from deliveries rd where rd.broadcast_id = \(alias).id)
                        or exists (
                            select from deliveries rd join lanes l on l.id = rd.lane
                            where rd.broadcast_id = \(alias).id and \(covers(reach, lane: "l"))))
                when \(alias).lane is not null then \(isOfWholeApps) and exists (
                    select from lanes l where l.id = \(alias).lane and \(covers(reach, lane: "l")))
                else \(isOfWholeApps) and exists (
                    select from channels rc where rc.id = \(alias).channel and \(covers(reach, lane: "rc")))
                end)
            """
    }
}
