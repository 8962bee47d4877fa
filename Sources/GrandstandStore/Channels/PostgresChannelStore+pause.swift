internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Creations that wait: for Apple's capability to be turned on, or for a place of Apple's to become free.
extension PostgresChannelStore {
    /// Seconds between two creations that ask whether the capability is on again.
    static let probeInterval: TimeInterval = 300

    /// Remembers that the capability is off and keeps what is not asked yet from being asked: `admit` lets one creation
    /// through from time to time.
    static func pauseCreations(
        _ task: ChannelTask, _ audit: AuditRows, on connection: PostgresConnection
    ) async throws {
        let app = task.address.app
        let probeAt = audit.now.addingTimeInterval(probeInterval)
        let quirk = Quirk(
            environment: app.environment, name: .broadcastFeature, value: Quirk.BroadcastFeature.off.rawValue,
            learnedAt: audit.now,
            evidence: "APNs refused a creation with BroadcastFeatureNotEnabled (request "
                + "\(audit.answer?.requestID ?? "without an ID"))",
            believedUntil: probeAt)
        try await PostgresQuirkStore.conclude(
            quirk, for: app,
            AuditRows(by: .server, at: audit.now, signingKey: audit.signingKey, answer: audit.answer), on: connection)
        try await connection.query(
            """
            update channels set state = 'failed', reason = \(APNsReason.broadcastFeatureNotEnabled.rawValue),
                next_attempt_at = \(probeAt), changed_at = \(audit.now)
            where \(AppColumns.isOf(app))
                and state = 'creating' and called_at is null
            """)
    }

    /// One row while the capability is thought to be off.
    static func capabilityIsOff(_ task: ChannelTask) -> PostgresQuery {
        let app = task.address.app
        return """
            select from quirks where \(AppColumns.isOf(app))
                and name = \(Quirk.Name.broadcastFeature.rawValue)
                and value = \(Quirk.BroadcastFeature.off.rawValue)
            """
    }

    /// A creation succeeded: the capability that was thought to be off is on.
    static func resumeCreations(
        _ task: ChannelTask, _ audit: AuditRows, on connection: PostgresConnection
    ) async throws {
        let app = task.address.app
        let quirk = Quirk(
            environment: app.environment, name: .broadcastFeature, value: Quirk.BroadcastFeature.on.rawValue,
            learnedAt: audit.now, evidence: "APNs created a channel", believedUntil: audit.now)
        try await PostgresQuirkStore.conclude(
            quirk, for: app,
            AuditRows(by: .server, at: audit.now, signingKey: audit.signingKey, answer: audit.answer), on: connection)
    }

    /// A place became free: the channel that needs it first, of those that Apple or the limit refused for lack of one,
    /// may ask again.
    static func makingRoom(_ task: ChannelTask, now: Date) -> PostgresQuery {
        let app = task.address.app
        return """
            update channels set next_attempt_at = least(next_attempt_at, \(now)) where id = (
                select c.id from channels c left join lateral \(event) on true
                where \(AppColumns.isOf(app, row: "c")) and c.state = 'failed'
                    and c.reason in (\(APNsReason.cannotCreateChannelConfig.rawValue), 'quota-exhausted')
                    and c.next_attempt_at is not null
                order by \(need) limit 1)
            """
    }

    package func reclaim(
        _ app: AppEnvironment, limit: Int, now: Date, leasedUntil: Date
    ) async throws -> [ChannelTask] {
        try await database.query(
            """
            with leased as (
                update channels set state = 'deleting', reason = \(Self.placeNeeded), attempts = attempts + 1,
                    leased_until = \(leasedUntil), next_attempt_at = \(leasedUntil), changed_at = \(now)
                where id in (
                    select id from channels
                    where bundle_id = (select bundle_id from apps where topic = \(app.bundleID.topic))
                        and environment = \(app.environment.rawValue)::environment and \(Self.isIdle(now: now))
                    order by retire_at, id limit \(limit) for update skip locked)
                returning *
            )
            select \(Self.columns), \(Self.addressColumns) from leased c
            join app_environments ae on ae.bundle_id = c.bundle_id and ae.environment = c.environment
            \(Self.addressJoins)
            """
        ).map(Self.task)
    }
}
