internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The members of the next shard.
extension StartStore {
    /// The most rounds in which starts are read for one shard. If hardly any of them can be sent, the shard stays small,
    /// and the run's next shard continues from there.
    private static let rounds = 8

    /// The members of a run's next shard: the starts that have been due for the longest, then followers that have no row
    /// yet. Starts whose followers can get none any more lose their rows; registering again brings them back.
    ///
    /// Due starts are locked first, and another statement reads the installations. If an installation registers between
    /// the two, the registration waits for this transaction, and then adds the installation again. If a token moves to
    /// another installation while its former holder gets a row, the new holder waits for this row (`inherit`).
    static func nextMembers(
        of run: inout StartRun, _ shard: StartShard, among variants: [String], _ claim: ShardClaim,
        on connection: PostgresConnection
    ) async throws -> [StartShard.Member] {
        try await connection.query(inherit(run.id))
        let size = claim.size(of: shard.address.bundleID)
        let choice = VariantChoice(variants.map { $0.isEmpty ? nil : $0 })
        var (members, passedOver): ([StartShard.Member], Set<String>) = ([], run.passedOver)
        // Those who get a push, and those whose audience has no push yet, for example because its channel is not active.
        func divide(_ rows: PostgresRows) throws -> (sending: [StartShard.Member], waiting: [Int]) {
            var (sending, waiting): ([StartShard.Member], [Int]) = ([], [])
            for row in rows {
                let bytes: [UInt8]? = try row.decode("token")
                guard let token = bytes.flatMap(DeviceToken.init(bytes:)) else { continue }
                let (installation, locale): (Int, String?) = (try row.decode("installation"), try row.decode("locale"))
                // The audience that the follower is started on.
                let variant = variants[choice.index(named: try row.decode("variant"), locale: locale) ?? 0]
                guard let push = shard.pushes.firstIndex(where: { $0.variant == variant }) else {
                    passedOver.insert(variant)
                    waiting.append(installation)
                    continue
                }
                let system = SystemVersion(number: try row.decode("system_version"))
                sending.append(
                    StartShard.Member(
                        installation: installation, token: token,
                        form: .init(push: push, hasInput: system >= .firstWithChannels, locale: locale),
                        attempts: try row.decode("attempts")))
            }
            return (sending, waiting)
        }
        // While followers have no rows yet, half of the shard is theirs, however many others register again and again.
        let share = run.cursor == nil ? size : size / 2
        for _ in 0..<rounds where members.count < share {
            let limit = share - members.count
            let due = try await connection.query(
                """
                select installation, attempts from starts s
                where run = \(run.id) and state = 'pending' and due_at <= \(claim.at) and not exists (
                    select from starts where run = s.run and installation = any(s.former) and state = 'sending')
                order by due_at, installation limit \(limit) for no key update skip locked
                """)
            guard !due.isEmpty else { break }
            let installations: [Int] = try due.map { try $0.decode("installation") }
            let (sending, waiting) = try divide(try await connection.query(candidates(due, of: run, shard)))
            let sent = sending.map(\.installation)
            try await connection.pipeline([
                """
                update starts set state = 'sending', due_at = null, former = null, token = null, at = \(claim.at)
                where \(locked(sent, of: run.id))
                """,
                "update starts set due_at = null where \(locked(waiting, of: run.id))",
                """
                delete from starts
                where \(locked(Set(installations).subtracting(sent).subtracting(waiting).sorted(), of: run.id))
                """,
            ])
            members += sending
            guard due.count == limit else { break }
        }
        for _ in 0..<rounds where members.count < size {
            guard let cursor = run.cursor else { break }
            let limit = size - members.count
            let followers = try await connection.query(followers(of: run, shard, after: cursor, limit))
            run.cursor = followers.count < limit ? nil : try followers.last?.decode("installation")
            let (sending, waiting) = try divide(followers)
            let begun = Set<Int>(
                try await connection.query(
                    """
                    insert into starts as s (run, installation, state, at)
                    select \(run.id), n, 'sending', \(claim.at) from unnest(\(sending.map(\.installation))) n order by n
                    on conflict (run, installation) do update set state = 'sending', due_at = null, attempts = 0,
                        token = null, reason = null, confirmed_at = null, at = excluded.at
                    where \(mayChange) and s.former is null
                    returning installation
                    """
                ).map { try $0.decode("installation") })
            members += sending.filter { begun.contains($0.installation) }
            guard !waiting.isEmpty else { continue }
            try await connection.query(
                """
                insert into starts (run, installation, at)
                select \(run.id), n, \(claim.at) from unnest(\(waiting)) n order by n on conflict do nothing
                """)
        }
        run.passedOver = passedOver
        return members
    }

    /// The next followers, in order of their installations, with the token of those who can get the start. The query
    /// reads one index range for each topic.
    private static func followers(
        of run: StartRun, _ shard: StartShard, after cursor: Int, _ limit: Int
    ) -> PostgresQuery {
        """
        select f.installation, 0 as attempts, c.*
        from (
            select distinct f.installation
            from (select distinct topic from unnest(\(run.topics)) t(topic)) t cross join lateral (
                select installation from follows
                where app = \(run.app) and topic = t.topic and installation > \(cursor)
                order by installation limit \(limit)) f
            order by f.installation limit \(limit)) f
        left join lateral (
            select i.*, t.token from (select) n \(canStart("f.installation", "\(shard.attributesType)"))) c on true
        order by f.installation
        """
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
    /// got it. If the former holder is in the run's other shard, the result of its push does not exist yet, and
    /// `nextMembers` lets the installation wait. Starts that a registration has locked are skipped. The condition on
    /// `former`, given twice, makes any plan read the index of these starts only.
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
