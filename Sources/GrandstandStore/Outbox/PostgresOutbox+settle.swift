internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresOutbox {
    package func settle(_ settlements: [Settlement], replica: UUID, now: Date) async throws {
        try await database.transaction { connection in
            let owned = try await Self.lockOwned(settlements.map(\.lane), replica: replica, on: connection)
            let rows = settlements.filter { owned.contains($0.lane) }.map(SettlementRow.init)
            guard !rows.isEmpty else { return }
            let lanes = rows.map(\.settlement.lane)
            let gone = rows.filter(\.channelIsGone).map(\.settlement.delivery)
            try await connection.pipeline([
                Self.judge(rows, now: now),
                // A retry is pointless once newer state waits behind it.
                Self.supersede(lanes: lanes, states: "('waiting', 'queued')", now: now),
                Self.cancelOnClosed(lanes: lanes, now: now),
                // The lane may have got another channel since the message was sent.
                """
                update channels c set state = 'missing', changed_at = \(now), reason = 'APNs does not know it any more'
                from deliveries d join lanes l on l.id = d.lane
                where d.id = any(\(gone)) and c.id = l.channel and c.channel_id = d.channel_id and c.state = 'active'
                """,
                """
                update lanes l set channel = null from deliveries d join channels c on c.channel_id = d.channel_id
                where d.id = any(\(gone)) and l.id = d.lane and c.id = l.channel
                """,
                Self.giveBack(lanes: lanes, now: now),
                // A closed lane's channel may retire once nothing is under way to it.
                """
                select pg_notify(\(WakeTopic.channels.rawValue), '') where \(!gone.isEmpty)
                    or exists (select from lanes where id = any(\(lanes)) and fenced_at is not null)
                """,
            ])
        }
    }

    package func release(_ deliveries: [ClaimedDelivery], replica: UUID, now: Date) async throws {
        try await database.transaction { connection in
            let owned = try await Self.lockOwned(deliveries.map(\.lane), replica: replica, on: connection)
            let released = deliveries.filter { owned.contains($0.lane) }
            try await connection.pipeline([
                """
                update deliveries set state = 'queued', attempts = attempts - 1
                where id = any(\(released.map(\.id))) and state = 'sending'
                """,
                Self.cancelOnClosed(lanes: released.map(\.lane), now: now),
                """
                update lanes l set leased_by = null, leased_until = null, due_at = (
                    select \(now)::timestamptz where exists (
                        select from deliveries d where d.lane = l.id and d.state in \(Self.pending)))
                where l.id = any(\(released.map(\.lane))) and \(Self.nothingUnderWay)
                """,
                "select pg_notify(\(WakeTopic.outbox.rawValue), '')",
            ])
        }
    }

    private static func lockOwned(
        _ lanes: [Int], replica: UUID, on connection: PostgresConnection
    ) async throws -> Set<Int> {
        let rows = try await connection.query(
            "select id from lanes where id = any(\(lanes)) and leased_by = \(replica) order by id for no key update")
        return Set(try rows.map { try $0.decode(Int.self, "id") })
    }

    private static func judge(_ rows: [SettlementRow], now: Date) -> PostgresQuery {
        """
        update deliveries d set state = r.state::delivery_state, reason = coalesce(r.reason, d.reason),
            apns_unique_id = r.unique_id, next_attempt_at = r.next_attempt_at,
            settled_at = case when r.state = 'queued' then null else \(now)::timestamptz end
        from unnest(\(rows.map(\.settlement.delivery)), \(rows.map(\.state.rawValue)), \(rows.map(\.reason)),
            \(rows.map(\.uniqueID)), \(rows.map(\.nextAttemptAt)))
            as r(id, state, reason, unique_id, next_attempt_at)
        where d.id = r.id and d.state = 'sending'
        """
    }

    /// Nothing more is tried for a cancelled event or a removed audience.
    private static func cancelOnClosed(lanes: [Int], now: Date) -> PostgresQuery {
        """
        update deliveries d set state = 'cancelled', settled_at = \(now), next_attempt_at = null
        from lanes l where l.id = any(\(lanes)) and l.closed_at is not null and d.lane = l.id
            and d.state in ('waiting', 'queued')
        """
    }

    /// A verdict may come so late that its replica has claimed the lane `l` again: the lease is that claim's then.
    private static let nothingUnderWay: PostgresQuery = """
        not exists (select from deliveries s where s.lane = l.id and s.state = 'sending')
        """

    private static func giveBack(lanes: [Int], now: Date) -> PostgresQuery {
        """
        update lanes l set leased_by = null, leased_until = null, due_at = (
            select case when l.channel is null then h.expires_at
                else greatest(\(now), coalesce(h.next_attempt_at, l.ready_at)) end
            from deliveries h where h.lane = l.id and h.state in \(pending) order by h.id limit 1)
        where l.id = any(\(lanes)) and \(nothingUnderWay)
        """
    }
}

/// A verdict as the columns of `deliveries` have it.
private struct SettlementRow {
    let settlement: Settlement
    let state: Delivery.State
    var reason: String?
    var uniqueID: String?
    var nextAttemptAt: Date?
    var channelIsGone = false

    init(_ settlement: Settlement) {
        self.settlement = settlement
        switch settlement.verdict {
        case .accepted(let receipt):
            state = .accepted
            uniqueID = receipt.uniqueID
        case .retry(let at, let why):
            state = .queued
            reason = why
            nextAttemptAt = at
        case .rejected(let refusal):
            state = .rejected
            reason = refusal.reason.rawValue
        case .channelGone(let refusal):
            state = .rejected
            reason = refusal.reason.rawValue
            channelIsGone = true
        case .expired(let why):
            state = .expired
            reason = why
        }
    }
}
