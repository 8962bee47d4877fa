internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The tokens of an audience, as the view `crowds` and the table `activities` have them.
enum CrowdRows {
    /// The tokens that a lane's messages go to: `a` are their activities.
    ///
    /// - Parameter lane: an expression of `bigint`.
    static func tokens(of lane: PostgresQuery) -> PostgresQuery {
        """
        crowds c join activities a on a.app = c.app and a.event_key = c.event_key and a.variant = c.variant and a.in_crowd
        where c.lane = \(lane)
        """
    }

    /// Whether a lane's messages go to any token.
    static func hasTokens(_ lane: PostgresQuery) -> PostgresQuery { "exists (select from crowds where lane = \(lane))" }

    // MARK: A message

    /// Begins a message: all tokens get it, also those that wait, for example after the message before.
    ///
    /// - Returns: their number.
    static func begin(_ lane: Int, on connection: PostgresConnection) async throws -> Int {
        try await connection.pipeline([
            wait(lane, where: "a.due_at is not null"), "select count(*) as n from \(tokens(of: "\(lane)"))",
        ])[1].first?.decode("n") ?? 0
    }

    /// The tokens of a message's next shard: first those that were not tried yet, then those that are due again. Tokens
    /// that want few pushes and had one a short time ago wait, unless the message has an alert.
    ///
    /// A token that may have had the alert gets the same push again, which does not ring twice because its timestamp is
    /// the same. If the alert goes with other content now, the token gets the newest content without the alert.
    static func shard(
        of message: LaneMessage, _ delivery: Int, on lane: Int, size: Int, at now: Date,
        on connection: PostgresConnection
    ) async throws -> [CrowdShard.Member] {
        let rings = message.alerting
        let isNew: PostgresQuery = rings && message.contentOf != nil ? "rang < \(delivery)" : "true"
        if rings, message.contentOf != nil {
            try await connection.query(
                wait(lane, where: "a.has < \(delivery) and a.rang = \(delivery)", having: "\(delivery)"))
        }
        let rows = try await connection.query(
            """
            select \(memberColumns), coalesce(not \(rings) and not a.frequent and a.rests_until > \(now), false) as rests
            from \(untried(delivery, on: lane, where: isNew, limit: size)) order by a.has, a.id limit \(size)
            """)
        guard !rows.isEmpty else {
            let due = try await members(
                "a.has < \(delivery) and a.due_at <= \(now) and \(isNew)", of: lane, size: size, on: connection)
            return rings ? try await ring(delivery, due, on: connection) : due
        }
        let resting: [Int] = try rows.filter { try $0.decode(Bool.self, "rests") }.map { try $0.decode("id") }
        if !resting.isEmpty {
            try await connection.query(wait(lane, until: "rests_until", where: "a.id = any(\(resting))"))
        }
        let awake = try rows.filter { try !$0.decode(Bool.self, "rests") }.compactMap(member)
        return rings ? try await ring(delivery, awake, on: connection) : awake
    }

    /// Records, before an alert is sent, that it may ring on the phones of these tokens.
    ///
    /// - Returns: the tokens whose rows no other transaction has locked. The others get the alert later.
    private static func ring(
        _ delivery: Int, _ members: [CrowdShard.Member], on connection: PostgresConnection
    ) async throws -> [CrowdShard.Member] {
        let ids = Set(
            try await connection.query(
                """
                update activities set rang = \(delivery) where id = any(array(
                    select id from activities where id = any(\(members.map(\.activity))) order by id
                    for no key update skip locked))
                returning id
                """
            ).map { try $0.decode(Int.self, "id") })
        return members.filter { ids.contains($0.activity) }
    }

    /// The tokens that do not have a message yet, and when the first of those that wait is due.
    static func rest(
        of delivery: Int, on lane: Int, on connection: PostgresConnection
    ) async throws -> (rest: TokenProgress, due: Date?) {
        let open = try await connection.query("select from \(untried(delivery, on: lane, limit: 1))")
        var rest = TokenProgress()
        guard open.isEmpty else { return (rest, nil) }
        let row = try await connection.query(
            """
            select count(*) as waiting, count(*) filter (where a.tries = 0) as resting, min(a.due_at) as due
            from \(tokens(of: "\(lane)")) and a.has < \(delivery) and a.due_at is not null
            """)[0]
        (rest.isSwept, rest.waiting, rest.resting) = (true, try row.decode("waiting"), try row.decode("resting"))
        return (rest, try row.decode("due"))
    }

    /// Tokens `a` of a lane that lack a message and wait for nothing. The subquery is read in the order of its index up
    /// to the limit, whatever the number of tokens.
    private static func untried(
        _ delivery: Int, on lane: Int, where condition: PostgresQuery = "true", limit: Int
    ) -> PostgresQuery {
        """
        crowds c cross join lateral (
            select id, update_token, frequent, tries, rang, rests_until, has from activities
            where app = c.app and event_key = c.event_key and variant = c.variant and in_crowd
                and has < \(delivery) and due_at is null and \(condition) order by has, id limit \(limit)) a
        where c.lane = \(lane)
        """
    }

    // MARK: Members

    private static let memberColumns: PostgresQuery = "a.id, a.update_token, a.frequent, a.tries, a.rang"

    /// Tokens that are due, those first that have waited longest.
    ///
    /// - Parameter condition: a condition on rows `a`.
    static func members(
        _ condition: PostgresQuery, of lane: Int, size: Int, on connection: PostgresConnection
    ) async throws -> [CrowdShard.Member] {
        try await connection.query(
            """
            select \(memberColumns) from \(tokens(of: "\(lane)")) and a.due_at is not null and \(condition)
            order by a.due_at, a.id limit \(size)
            """
        ).compactMap(member)
    }

    /// Reads a row with `memberColumns`.
    private static func member(_ row: PostgresRow) throws -> CrowdShard.Member? {
        guard let bytes: [UInt8] = try row.decode([UInt8]?.self, "update_token"), let token = DeviceToken(bytes: bytes)
        else { return nil }
        return CrowdShard.Member(
            activity: try row.decode("id"), token: token, wantsFew: try !row.decode(Bool.self, "frequent"),
            attempts: try row.decode("tries"), rang: try row.decode("rang"))
    }

    /// Lets tokens wait. Settlements lock activities before lanes. So rows that are locked are skipped, not waited for,
    /// because the caller has locked the lane.
    ///
    /// - Parameters:
    ///   - time: an expression for when they are due; null: they wait for nothing but the next message.
    ///   - condition: a condition on rows `a`.
    ///   - has: an expression for the message that they count as having.
    static func wait(
        _ lane: Int, until time: PostgresQuery = "null", where condition: PostgresQuery,
        having has: PostgresQuery = "has"
    ) -> PostgresQuery {
        """
        update activities set due_at = \(time), tries = 0, has = \(has) where id = any(array(
            select a.id from \(tokens(of: "\(lane)")) and \(condition) for no key update of a skip locked))
        """
    }

    /// Records what activities got, and when they are due again, unless they have another token by now. An alert that
    /// APNs did not process did not ring.
    ///
    /// - Parameter delivery: the message; `nil`: the newest content, separately.
    static func given(
        _ outcomes: [PushOutcome<CrowdShard.Member>], of delivery: Int?, rest: TimeInterval, now: Date
    ) -> PostgresQuery {
        let again = outcomes.map { outcome in
            let again = CrowdShard.again(
                outcome.verdict, after: outcome.member.attempts, at: now, jitter: .random(in: 0..<1))
            // A newcomer is tried again with what is the newest content then, so its attempts are not counted.
            return delivery == nil
                ? again.map { _ in (attempts: 0, at: now.addingTimeInterval(CrowdJoins.pause)) } : again
        }
        let members = outcomes.map(\.member)
        return """
            update activities a set has = case when r.due_at is null then greatest(a.has, \(delivery ?? 0)) else a.has end,
                due_at = r.due_at, tries = r.tries, rests_until = coalesce(r.rests_until, a.rests_until),
                rang = coalesce(r.rang, a.rang)
            from unnest(\(members.map(\.activity)), \(members.map(\.token.hex)), \(again.map { $0?.at }),
                \(again.map { $0.map { max(delivery == nil ? 0 : 1, $0.attempts) } ?? 0 }),
                \(outcomes.map { $0.restsUntil(rest) }), \(outcomes.map(\.rang)))
                as r(id, token, due_at, tries, rests_until, rang)
            cross join lateral (select ctid from activities where id = r.id offset 0) k
            where a.ctid = k.ctid and a.update_token = decode(r.token, 'hex')
            """
    }
}
