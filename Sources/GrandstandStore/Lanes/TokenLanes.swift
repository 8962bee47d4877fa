internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Lanes of single tokens. A lane is created with the first push to its token. It is deleted when history deletes the
/// last of its pushes.
enum TokenLanes {
    /// An arbitrary constant for the lock.
    private static let key = 7_230_518_204_417_736

    /// The lock for transactions that accept a push. It is held until the commit, so that no lane is deleted meanwhile,
    /// not even a lane that has no push yet.
    static let shared: PostgresQuery = "select pg_advisory_xact_lock_shared(\(key))"

    private static let exclusive: PostgresQuery = "select pg_advisory_xact_lock(\(key))"

    /// The statement that creates the missing lanes, in one order, so that two transactions with the same lanes do not
    /// deadlock. It returns the `id` of each new lane. New lanes that the acceptance does not need, because it refuses
    /// their pushes, are deleted (`unmake`).
    static func missing(_ addresses: [TokenAddress]) -> PostgresQuery {
        """
        insert into lanes (kind, bundle_id, environment, storage_policy, token)
        select 'token'::lane_kind, ae.bundle_id, ae.environment, 'mostRecentMessageStored'::storage_policy,
            decode(r.token, 'hex')
        from \(rows(addresses)) join app_environments ae
            on ae.bundle_id = r.bundle_id and ae.environment = r.environment::environment
        order by ae.bundle_id, ae.environment, r.token
        on conflict (bundle_id, environment, token) where token is not null do nothing
        returning id
        """
    }

    /// Deletes lanes that this transaction created without accepting a push.
    static func unmake(_ lanes: [Int]) -> PostgresQuery { "delete from lanes where id = any(\(lanes))" }

    /// The query for the lanes' IDs; each lane is looked up by its key.
    static func ids(_ addresses: [TokenAddress]) -> PostgresQuery {
        """
        select l.id from \(rows(addresses)) cross join lateral (
            select id from lanes where bundle_id = r.bundle_id and environment = r.environment::environment
                and token = decode(r.token, 'hex') offset 0) l
        """
    }

    private static func rows(_ addresses: [TokenAddress]) -> PostgresQuery {
        """
        unnest(\(addresses.map(\.app.bundleID.rawValue)), \(addresses.map(\.app.environment.rawValue)),
            \(addresses.map(\.token.hex))) as r(bundle_id, environment, token)
        """
    }

    /// The states of tokens as targets.
    ///
    /// - Parameter lanes: rows of `LaneRows.load`.
    static func states(_ lanes: PostgresRows) throws -> [BroadcastTarget: Acceptance.TargetState] {
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        for row in lanes {
            guard let address = try TokenAddress(row) else { continue }
            states[.token(address)] = Acceptance.TargetState(isOver: false, lanes: [try row.decode("lane")])
        }
        return states
    }

    /// Deletes those of these lanes that have no push left, and the tokens in their rows. The lock `exclusive` prevents
    /// other transactions from adding a push meanwhile.
    static func forget(_ lanes: [Int], on connection: PostgresConnection) async throws {
        guard !lanes.isEmpty else { return }
        try await connection.pipeline([
            exclusive,
            """
            delete from lanes l where l.id = any(\(lanes)) and l.kind = 'token'
                and not exists (select from broadcasts b where b.lane = l.id)
            """,
        ])
    }
}
