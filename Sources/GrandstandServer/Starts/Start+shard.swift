internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The members of the next shard.
extension StartStore {
    /// The most rounds in which starts are read for one shard. If hardly any of them can be sent, the shard stays small,
    /// and the run's next shard continues from there.
    private static let rounds = 8
    /// How many followers get their rows in one turn of a run. The first pushes must not wait for a million rows.
    static let step = 10_000

    /// The members of a run's next shard: the starts that have been due for the longest. Followers that can get no start
    /// any more lose their rows; registering again brings them back.
    ///
    /// The starts are locked first, and another statement reads the installations. If an installation registers between
    /// the two, the registration waits for this transaction, and then adds the installation again.
    static func nextMembers(
        of run: inout StartRun, _ shard: StartShard, among variants: [String], _ claim: ShardClaim,
        on connection: PostgresConnection
    ) async throws -> [StartShard.Member] {
        try await connection.query(inherit(run.id))
        let size = claim.size(of: shard.address.bundleID)
        let choice = VariantChoice(variants.map { $0.isEmpty ? nil : $0 })
        var members: [StartShard.Member] = []
        for _ in 0..<rounds where members.count < size {
            let limit = size - members.count
            let due = try await connection.query(
                """
                select installation, attempts from starts
                where run = \(run.id) and state = 'pending' and due_at <= \(claim.at)
                order by due_at, installation limit \(limit) for no key update skip locked
                """)
            let installations: [Int] = try due.map { try $0.decode("installation") }
            var (sending, waiting): ([Int], [Int]) = ([], [])
            for row in try await connection.query(candidates(due, of: run, shard)) {
                let installation: Int = try row.decode("installation")
                let locale: String? = try row.decode("locale")
                guard let token = DeviceToken(bytes: try row.decode("token")) else { continue }
                // The audience that the follower is started on.
                let variant = variants[choice.index(named: try row.decode("variant"), locale: locale) ?? 0]
                guard let push = shard.pushes.firstIndex(where: { $0.variant == variant }) else {
                    // The audience has no push yet, for example because its channel is not active.
                    run.passedOver.insert(variant)
                    waiting.append(installation)
                    continue
                }
                let system = SystemVersion(number: try row.decode("system_version"))
                sending.append(installation)
                members.append(
                    StartShard.Member(
                        installation: installation, token: token,
                        form: .init(push: push, hasInput: system >= .firstWithChannels, locale: locale),
                        attempts: try row.decode("attempts")))
            }
            try await connection.pipeline([
                """
                update starts set state = 'sending', due_at = null, former = null, token = null, at = \(claim.at)
                where \(locked(sending, of: run.id))
                """,
                "update starts set due_at = null where \(locked(waiting, of: run.id))",
                """
                delete from starts
                where \(locked(Set(installations).subtracting(sending).subtracting(waiting).sorted(), of: run.id))
                """,
            ])
            guard due.count == limit else { break }
        }
        return members
    }

    /// Gives the next followers their rows, in order of their installations. The query reads one index range for each
    /// topic.
    static func enlistNext(
        _ run: inout StartRun, _ claim: ShardClaim, on connection: PostgresConnection
    ) async throws {
        guard let cursor = run.cursor else { return }
        let followers: PostgresQuery = """
            select distinct f.installation
            from (select distinct topic from unnest(\(run.topics)) t(topic)) t cross join lateral (
                select installation from follows
                where app = \(run.app) and topic = t.topic and installation > \(cursor)
                order by installation limit \(step)) f
            order by f.installation limit \(step)
            """
        let installations: [Int] = try await connection.query(followers).map { try $0.decode("installation") }
        run.cursor = installations.count < step ? nil : installations.last
        guard !installations.isEmpty else { return }
        try await connection.query(
            enlist("select \(run.id)::bigint as run, n as installation from unnest(\(installations)) n", at: claim.at))
    }

    /// Gives installations their rows in runs, if they can get the runs' starts. A start that APNs refused because of its
    /// token becomes pending again. A start that is settled otherwise, or being sent, does not change.
    ///
    /// - Parameter members: rows with `run` and `installation`.
    static func enlist(_ members: PostgresQuery, at now: Date) -> PostgresQuery {
        """
        insert into starts as s (run, installation, due_at, at)
        select m.run, m.installation, \(now), \(now) from (\(members)) m
        cross join lateral (select attributes_type from start_runs where id = m.run offset 0) r
        \(canStart("m.installation", "r.attributes_type"))
        order by m.installation, m.run
        on conflict (run, installation) do update set state = 'pending', due_at = least(s.due_at, excluded.due_at),
            attempts = case when s.state = 'pending' then s.attempts else 0 end,
            token = case when s.state = 'pending' then s.token end, reason = null, confirmed_at = null,
            at = excluded.at
        where \(mayChange)
        """
    }

    /// Joins an installation `i` and its token `t`; no row: it gets no start of this type of attributes. `missing` counts
    /// the reasons, and a test compares the two.
    private static func canStart(_ installation: PostgresQuery, _ attributesType: PostgresQuery) -> PostgresQuery {
        """
        cross join lateral (
            select system_version, locale, variant from installations where id = \(installation)
                and system_version >= \(SystemVersion.firstWithStarts.number) and live_activities_enabled offset 0) i
        cross join lateral (
            select token from start_tokens where installation = \(installation)
                and attributes_type = \(attributesType) and suspect_since is null offset 0) t
        """
    }

    /// Whether the start `s` may be sent, or sent again.
    static let mayChange: PostgresQuery =
        "(s.state = 'pending' or s.state = 'rejected' and s.reason = any(\(tokenReasons)))"

    /// The condition that a start is one of these. The transaction must have locked them. They are looked up one by one:
    /// with outdated statistics, a plan for `installation = any(…)` would read the whole run.
    static func locked(_ installations: [Int], of run: Int) -> PostgresQuery {
        """
        ctid = any(array(
            select k.ctid from unnest(\(installations)) n(id)
            cross join lateral (select ctid from starts where run = \(run) and installation = n.id offset 0) k))
        """
    }

    /// An installation that took over a token counts as started if the token's former holder got the start, or may have
    /// got it. A run's shard is settled or given up before the run's next shard is taken, so the results of all pushes
    /// to the former holder exist. Starts that a registration has locked are skipped. The condition on `former`, given twice,
    /// makes any plan read the index of these starts only.
    static func inherit(_ run: Int) -> PostgresQuery {
        """
        update starts h set state = f.state, reason = f.reason, at = f.at, due_at = null, former = null
        from (
            select installation, former from starts where run = \(run) and former is not null
            for no key update skip locked) p
        cross join lateral (
            select state, reason, at from starts
            where run = \(run) and installation = any(p.former) and state in ('accepted', 'unknown')
            order by state limit 1) f
        where h.run = \(run) and h.installation = p.installation and h.former is not null
        """
    }

    /// How each of the due starts is sent, in the order of `due`; no row: it is not sent any more.
    private static func candidates(_ due: PostgresRows, of run: StartRun, _ shard: StartShard) throws -> PostgresQuery {
        """
        select f.installation, f.attempts, i.system_version, i.locale, i.variant, t.token
        from unnest(\(try due.map { try $0.decode(Int.self, "installation") }),
            \(try due.map { try $0.decode(Int.self, "attempts") })) with ordinality as f(installation, attempts, place)
        \(canStart("f.installation", "\(shard.attributesType)"))
        where exists (select from follows where installation = f.installation and topic = any(\(run.topics)))
        order by f.place
        """
    }
}
