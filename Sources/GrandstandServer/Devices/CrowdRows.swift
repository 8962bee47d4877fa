internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The tokens of an audience, as the view `crowds` and the table `activities` have them, in a transaction that has locked
/// the audience's lane.
struct CrowdRows {
    let lane: Int
    let connection: PostgresConnection
    /// The last token that the message under way was sent to; `nil`: none.
    var after: TokenProgress.Place?

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
    func beginSend() async throws -> Int {
        try await setDue(where: "a.due_at is not null")
        return try await connection.query("select count(*) as n from \(tokens)")[0].decode("n")
    }

    /// The tokens of a message's next shard: first those that were not tried yet, then those that are due again. Tokens
    /// that want few pushes and had one a short time ago wait, unless the message has an alert.
    ///
    /// A token that may have had the alert gets the same push again, which does not ring twice because its timestamp is
    /// the same. If the alert goes with other content now, the token gets the newest content without the alert.
    ///
    /// - Returns: the tokens, and the place of the last one that gets its first push; `after` if there is none.
    func shard(
        of message: LaneMessage, _ delivery: Int, size: Int, at now: Date
    ) async throws -> (members: [Shard.Member], last: TokenProgress.Place?) {
        let rings = message.hasAlert
        var isNew: PostgresQuery = "true"
        if rings, message.contentOf != nil {
            isNew = "rang < \(delivery)"
            try await setDue(where: "a.has < \(delivery) and a.rang = \(delivery)", having: "\(delivery)")
        }
        let rows = try await connection.query(
            """
            select \(Self.columns), a.has, coalesce(not \(rings) and a.rests_until > \(now), false) as rests
            from \(untried(delivery, where: isNew, after: after, limit: size)) order by a.has, a.id limit \(size)
            """)
        let resting = try rows.filter { try $0.decode(Bool.self, "rests") }
        if !resting.isEmpty {
            let ids: [Int] = try resting.map { try $0.decode("id") }
            try await setDue(until: "rests_until", where: "a.id = any(\(ids))")
        }
        let found =
            rows.isEmpty
            ? try await dueMembers("a.has < \(delivery) and a.due_at <= \(now) and \(isNew)", size: size)
            : try rows.filter { try !$0.decode(Bool.self, "rests") }.compactMap(Self.member)
        let last = try rows.last.map { TokenProgress.Place(has: try $0.decode("has"), id: try $0.decode("id")) }
        return (rings ? try await recordRing(delivery, found) : found, last ?? after)
    }

    /// Records, before an alert is sent, that it may ring on the phones of these tokens.
    ///
    /// - Returns: the tokens whose rows no other transaction has locked. The others get the alert later.
    private func recordRing(_ delivery: Int, _ members: [Shard.Member]) async throws -> [Shard.Member] {
        let rows = try await connection.query(
            """
            update activities set rang = \(delivery) where id = any(array(
                select id from activities where id = any(\(members.map(\.row))) order by id
                for no key update skip locked))
            returning id
            """)
        let ids = Set(try rows.map { try $0.decode(Int.self, "id") })
        return members.filter { ids.contains($0.row) }
    }

    /// The tokens that do not have a message yet, and when the first of those that wait is due.
    func left(of delivery: Int) async throws -> (left: TokenProgress, due: Date?) {
        var left = TokenProgress()
        for place in after == nil ? [nil] : [after, nil] {
            let untried = try await connection.query("select from \(untried(delivery, after: place, limit: 1))")
            left.last = place
            guard untried.isEmpty else { return (left, nil) }
        }
        let row = try await connection.query(
            """
            select count(*) as waiting, count(*) filter (where a.tries = 0) as resting, min(a.due_at) as due
            from \(tokens) and a.has < \(delivery) and a.due_at is not null
            """)[0]
        (left.isSwept, left.waiting, left.resting) = (true, try row.decode("waiting"), try row.decode("resting"))
        return (left, try row.decode("due"))
    }

    private var tokens: PostgresQuery { Self.tokens(of: "\(lane)") }

    /// Tokens `a` of the lane that lack a message and wait for nothing. The subquery is read in the order of its index up
    /// to the limit, whatever the number of tokens.
    ///
    /// - Parameter place: only tokens after this place; `nil`: all.
    private func untried(
        _ delivery: Int, where condition: PostgresQuery = "true", after place: TokenProgress.Place?, limit: Int
    ) -> PostgresQuery {
        """
        crowds c cross join lateral (
            select id, installation, update_token, tries, rang, rests_until, has from activities
            where app = c.app and event_key = c.event_key and variant = c.variant and in_crowd
                and has < \(delivery) and (has, id) > (\(place?.has ?? -1), \(place?.id ?? 0)) and due_at is null
                and \(condition) order by has, id limit \(limit)) a
        where c.lane = \(lane)
        """
    }

    // MARK: Members

    private static let columns: PostgresQuery = """
        a.id, a.update_token, a.tries, a.rang,
        (select frequent_pushes_enabled from installations where id = a.installation) as frequent
        """

    /// Tokens that are due, those first that have waited longest.
    ///
    /// - Parameter condition: a condition on rows `a`.
    func dueMembers(_ condition: PostgresQuery, size: Int) async throws -> [Shard.Member] {
        try await connection.query(
            """
            select \(Self.columns) from \(tokens) and a.due_at is not null and \(condition)
            order by a.due_at, a.id limit \(size)
            """
        ).compactMap(Self.member)
    }

    /// Reads a row with `columns`.
    private static func member(_ row: PostgresRow) throws -> Shard.Member? {
        guard let token = DeviceToken(bytes: try row.decode("update_token")) else { return nil }
        let wantsFew = try !row.decode(Bool.self, "frequent")
        return Shard.Member(
            row: try row.decode("id"), token: token, push: wantsFew ? 1 : 0, attempts: try row.decode("tries"),
            wantsFew: wantsFew, rang: try row.decode("rang"))
    }

    /// Lets tokens wait. Settlements lock activities before lanes. So rows that are locked are skipped, not waited for,
    /// because the caller has locked the lane.
    ///
    /// - Parameters:
    ///   - time: an expression for when they are due; null: they wait for nothing but the next message.
    ///   - condition: a condition on rows `a`.
    ///   - has: an expression for the message that they count as having.
    func setDue(
        until time: PostgresQuery = "null", where condition: PostgresQuery, having has: PostgresQuery = "has"
    ) async throws {
        try await connection.query(
            """
            update activities set due_at = \(time), tries = 0, has = \(has) where id = any(array(
                select a.id from \(tokens) and \(condition) for no key update of a skip locked))
            """)
    }

    /// Records what activities got, and when they are due again, unless they have another token by now. An alert that
    /// APNs did not process did not ring.
    ///
    /// - Parameter delivery: the message; `nil`: the newest content, separately.
    func record(
        _ outcomes: [PushOutcome], of delivery: Int?, rest: TimeInterval, now: Date
    ) async throws {
        let (members, fates) = (outcomes.map(\.member), outcomes.map { $0.fate(rest: rest, at: now) })
        try await connection.query(
            """
            update activities a set has = case when r.due_at is null then greatest(a.has, \(delivery ?? 0)) else a.has end,
                due_at = r.due_at, tries = r.tries, rests_until = coalesce(r.rests_until, a.rests_until),
                rang = coalesce(r.rang, a.rang)
            from unnest(\(members.map(\.row)), \(members.map(\.token.hex)), \(fates.map(\.due)),
                \(fates.map(\.tries)), \(fates.map(\.restsUntil)), \(fates.map(\.rang)))
                as r(id, token, due_at, tries, rests_until, rang)
            cross join lateral (select ctid from activities where id = r.id offset 0) k
            where a.ctid = k.ctid and a.update_token = decode(r.token, 'hex')
            """)
    }
}
