internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresChannelStore {
    package func record(_ outcome: ChannelOutcome, of id: UUID, now: Date) async throws -> Channel {
        try await database.transaction { connection in
            let rows = try await connection.query(Self.update(outcome, of: id, now: now))
            guard let channel = try rows.first.map(Self.channel) else {
                throw Problem(.channelNotFound, "There is no channel \(id).")
            }
            switch outcome {
            case .created: try await Self.connectLanes(to: channel, now: now, on: connection)
            case .deleted: try await Self.disconnectLanes(from: channel, on: connection)
            case .notCreated, .notDeleted: break
            }
            try await connection.query("select pg_notify(\(WakeTopic.channels.rawValue), '')")
            return channel
        }
    }

    private static func update(_ outcome: ChannelOutcome, of id: UUID, now: Date) -> PostgresQuery {
        switch outcome {
        case .created(let channelID):
            """
            update channels c set state = 'active', channel_id = \(channelID), reason = null, attempts = 0,
                next_attempt_at = null, leased_until = null, changed_at = \(now)
            where id = \(id) returning \(columns)
            """
        case .notCreated(let reason, let state, let nextAttemptAt):
            """
            update channels c set state = \(state.rawValue)::channel_state, reason = \(reason),
                next_attempt_at = \(nextAttemptAt), leased_until = null, changed_at = \(now)
            where id = \(id) returning \(columns)
            """
        case .deleted:
            """
            update channels c set state = 'deleted', reason = null, next_attempt_at = null, leased_until = null,
                changed_at = \(now)
            where id = \(id) returning \(columns)
            """
        case .notDeleted(let reason, let nextAttemptAt):
            """
            update channels c set state = 'deleting', reason = \(reason), next_attempt_at = \(nextAttemptAt),
                leased_until = null, changed_at = \(now)
            where id = \(id) returning \(columns)
            """
        }
    }

    /// What waited for the channel is due now.
    private static func connectLanes(to channel: Channel, now: Date, on connection: PostgresConnection) async throws {
        guard let eventKey = channel.eventKey else { return }
        try await connection.pipeline([
            """
            update lanes l set channel = \(channel.id),
                due_at = case when l.due_at is null or l.leased_until is not null then l.due_at else \(now) end
            from audiences u
            where u.lane = l.id and u.event_key = \(eventKey.rawValue) and u.bundle_id = \(channel.bundleID.rawValue)
                and u.environment = \(channel.environment.rawValue)::environment
                and u.storage_policy = \(channel.storagePolicy.rawValue)::storage_policy
            """,
            """
            update deliveries d set state = 'queued', channel_id = \(channel.channelID)
            from lanes l where l.channel = \(channel.id) and d.lane = l.id and d.state = 'waiting'
            """,
            "select pg_notify(\(WakeTopic.outbox.rawValue), '')",
        ])
    }

    private static func disconnectLanes(from channel: Channel, on connection: PostgresConnection) async throws {
        try await connection.query("update lanes set channel = null where channel = \(channel.id)")
    }
}
