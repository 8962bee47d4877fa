internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The members of the next shard.
extension StartStore {
    /// The members of a run's next shard: the starts that have been due for the longest, then followers that have no row
    /// yet. Their rows are written as `sending`. Due starts that cannot be sent lose their rows: registering again brings
    /// them back.
    ///
    /// Due starts are locked first, and another statement reads the installations. If an installation registers between
    /// the two, the registration waits for this transaction, and then adds the installation again. If a token moves to
    /// another installation while its former holder gets a row, the new holder waits for this row (`inherit`).
    static func fill(
        _ shard: inout Shard, of run: inout StartRun, _ pushes: [StartPush], _ claim: WorkClaim,
        on connection: PostgresConnection
    ) async throws {
        try await connection.query(inherit(run.id))
        let size = claim.shardLimit(of: shard.address.bundleID)
        let choice = VariantChoice(pushes.map { $0.variant.isEmpty ? nil : $0.variant })
        var (members, forms): ([Shard.Member], [PayloadKey: Int]) = ([], [:])
        let (id, type) = (run.id, shard.attributesType)
        let mayBegin: PostgresQuery = "(\(maySend) or \(isCutOff(run, type))) and \(isTokenFree)"
        // Starts those who have a usable token.
        func begin(_ rows: PostgresRows) async throws {
            var found: [Int: Shard.Member] = [:]
            for row in rows {
                let bytes: [UInt8]? = try row.decode("token")
                guard let token = bytes.flatMap(DeviceToken.init(bytes:)) else { continue }
                let (installation, locale): (Int, String?) = (try row.decode("installation"), try row.decode("locale"))
                let form = PayloadKey(
                    push: choice.index(named: try row.decode("variant"), locale: locale) ?? 0,
                    hasInputPush: try row.decode("system_version") >= SystemVersion.firstWithChannels, locale: locale)
                let index = forms[form] ?? forms.count
                forms[form] = index
                found[installation] = Shard.Member(row: installation, token: token, push: index)
            }
            let begun = try await connection.query(
                """
                insert into starts as s (run, installation, state, at)
                select \(id), n, 'sending', \(claim.at) from unnest(\(found.keys.sorted())) n order by n
                on conflict (run, installation) do update set state = 'sending', due_at = null, former = null,
                    attempts = case when s.state = 'pending' then s.attempts else 0 end, token = null, reason = null,
                    confirmed_at = null, at = excluded.at
                where \(mayBegin)
                returning installation, attempts
                """)
            for row in begun {
                guard var member = found[try row.decode("installation")] else { continue }
                member.attempts = try row.decode("attempts")
                members.append(member)
            }
        }
        let due: [Int] = try await connection.query(
            """
            select installation from starts s
            where run = \(run.id) and due_at <= \(claim.at) and \(isTokenFree)
            order by due_at, installation limit \(size) for no key update skip locked
            """
        ).map { try $0.decode("installation") }
        if !due.isEmpty {
            try await begin(try await connection.query(candidates(due, of: run, type)))
            // They are looked up one by one: with outdated statistics, a plan for `installation = any(…)` would read the
            // whole run.
            try await connection.query(
                """
                delete from starts where state = 'pending' and ctid = any(array(
                    select k.ctid from unnest(\(due)) n(id) cross join lateral (
                        select ctid from starts where run = \(run.id) and installation = n.id offset 0) k))
                """)
        }
        if let cursor = run.cursor, members.count < size {
            let limit = size - members.count
            let followers = try await connection.query(followers(of: run, type, after: cursor, limit))
            run.cursor = followers.count < limit ? nil : try followers.last?.decode("installation")
            try await begin(followers)
        }
        shard.pushes = forms.sorted { $0.value < $1.value }.map(\.key).map {
            pushes[$0.push].push(hasInput: $0.hasInputPush, locale: $0.locale, run: id)
        }
        shard.members = members
    }

    /// What decides the bytes of a member's push.
    private struct PayloadKey: Hashable {
        /// The index of the push that the member's audience gets.
        let push: Int
        /// Whether the push says where the activity gets its updates from. Systems before iOS 18 do not know
        /// `input-push-channel` and `input-push-token`, and start nothing from a push with one
        /// (docs/internals/apns.md 3.2).
        let hasInputPush: Bool
        let locale: String?
    }

    /// The next followers, in order of their installations, with the token of those who can get the start. The query
    /// reads one index range for each topic.
    private static func followers(
        of run: StartRun, _ attributesType: String, after cursor: Int, _ limit: Int
    ) -> PostgresQuery {
        """
        select f.installation, c.*
        from (
            select distinct f.installation
            from (select distinct topic from unnest(\(run.topics)) t(topic)) t cross join lateral (
                select installation from follows
                where app = \(run.app) and topic = t.topic and installation > \(cursor)
                order by installation limit \(limit)) f
            order by f.installation limit \(limit)) f
        left join lateral (
            select i.*, t.token from (select) n \(startJoins("f.installation", "\(attributesType)"))) c on true
        order by f.installation
        """
    }

    /// How the due starts are sent; no row: it is not sent any more.
    private static func candidates(_ due: [Int], of run: StartRun, _ attributesType: String) -> PostgresQuery {
        """
        select f.installation, i.system_version, i.locale, i.variant, t.token from unnest(\(due)) f(installation)
        \(startJoins("f.installation", "\(attributesType)"))
        where exists (select from follows where installation = f.installation and topic = any(\(run.topics)))
        """
    }

    /// Gives installations their rows in each open run of their apps that they follow and whose start they can get. A
    /// start that APNs refused because of its token becomes pending again. A start that is settled otherwise, or being
    /// sent, does not change.
    static func enlist(_ installations: [Int], of apps: [Int32], at now: Date) -> PostgresQuery {
        """
        insert into starts as s (run, installation, due_at, at)
        select r.id, m.id, \(now), \(now) from unnest(\(installations), \(apps)) m(id, app)
        cross join lateral (
            select id, attributes_type, topics from start_runs where app = m.app and closed_at is null offset 0) r
        \(startJoins("m.id", "r.attributes_type"))
        where exists (select from follows where installation = m.id and topic = any(r.topics))
        order by m.id, r.id
        on conflict (run, installation) do update set state = 'pending', due_at = least(s.due_at, excluded.due_at),
            attempts = case when s.state = 'pending' then s.attempts else 0 end,
            token = case when s.state = 'pending' then s.token end, reason = null, confirmed_at = null,
            at = excluded.at
        where \(maySend)
        """
    }

    /// Joins an installation `i` and its token `t`; no row: it gets no start of this type of attributes. `missing` counts
    /// the reasons, and a test compares the two.
    private static func startJoins(_ installation: PostgresQuery, _ attributesType: PostgresQuery) -> PostgresQuery {
        """
        cross join lateral (
            select system_version, locale, variant from installations where id = \(installation)
                and system_version >= \(SystemVersion.firstWithStarts) and live_activities_enabled offset 0) i
        cross join lateral (
            select token from start_tokens where installation = \(installation)
                and attributes_type = \(attributesType) and suspect_since is null offset 0) t
        """
    }

    /// Whether the start `s` may be sent, or sent again.
    static let maySend: PostgresQuery =
        "(s.state = 'pending' or s.state = 'rejected' and s.reason = any(\(tokenReasons)))"

    /// Whether no installation that had the token of start `s` before got the start, or may have got it.
    private static let isTokenFree: PostgresQuery = """
        (s.former is null or not exists (
            select from starts where run = s.run and installation = any(s.former)
                and state in ('sending', 'accepted', 'unknown') offset 0))
        """

    /// Whether the start `s` is sent again, because its activity listens to a channel that was replaced since, and the
    /// event's start declares `restart`. If a push started an activity, the app may not have reported the activity's
    /// channel. Such an activity counts as listening to the replaced channel if it was first reported before the new
    /// channel was made. An activity with an update token does not count, because messages reach it by its token.
    private static func isCutOff(_ run: StartRun, _ attributesType: String) -> PostgresQuery {
        """
        s.state in ('accepted', 'rejected', 'unknown')
        and (select restarts from event_starts where event_key = \(run.eventKey))
        and (select system_version >= \(SystemVersion.firstWithChannels) from installations where id = s.installation)
        and exists (
            select from activities a join app_environments ae on ae.id = a.app
            join audiences u on u.event_key = a.event_key and u.variant = a.variant
                and \(AudienceColumns.isOfSameApp("u", "ae"))
            cross join lateral (select * from channels where id = u.channel offset 0) c
            where c.state = 'active' and c.created_at > s.at and a.installation = s.installation
                and a.event_key = \(run.eventKey) and a.attributes_type = \(attributesType)
                and a.state in ('active', 'stale') and a.update_token is null
                and coalesce(a.channel_id <> c.channel_id, a.first_reported_at < c.created_at) offset 0)
        """
    }

    /// Makes an event's runs read all followers again (`isCutOff`), if its start declares `restart`.
    static func restart(_ key: EventKey) -> PostgresQuery {
        """
        update start_runs set cursor = 0 where event_key = \(key.rawValue) and closed_at is null
            and exists (select from event_starts where event_key = \(key.rawValue) and restarts)
        """
    }

    /// An installation that took over a token counts as started if the token's former holder got the start, or may have
    /// got it. If the former holder is in the run's other shard, the result of its push does not exist yet, and
    /// `isTokenFree` lets the installation wait. Starts that a registration has locked are skipped. The condition on
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
}

extension StartStore {
    /// Records the outcomes of a shard's pushes, removes tokens as the answers require, and ends the lease. If another
    /// replica has the lease by now, nothing changes, because that replica has counted the shard as unknown.
    func settle(_ shard: Shard, _ outcomes: [PushOutcome], replica: UUID, now: Date) async throws {
        let results = outcomes.sorted { $0.member.row < $1.member.row }
        let lock: PostgresQuery = """
            select from unnest(\(results.map(\.member.row))) n(id) cross join lateral (
                select from starts where run = \(shard.owner) and installation = n.id for no key update) s
            """
        let statements =
            outcomes.markStartTokens(of: shard.attributesType, at: now) + [
                // The starts are locked in the order in which registrations lock them, by a statement of its own:
                // `record` finds rows by their place, which moves if another transaction changes them.
                lock, Self.record(results, of: shard, now: now),
                // Whoever got another token during the push is tried again with that one.
                """
                update starts s set state = 'pending', due_at = \(now), attempts = 0, reason = null
                from unnest(\(results.map(\.member.row)), \(results.map(\.member.token.hex))) r(installation, token)
                cross join lateral (
                    select ctid from starts where run = \(shard.owner) and installation = r.installation
                        and state = 'rejected' and reason = any(\(Self.tokenReasons)) and confirmed_at is null offset 0) k
                cross join lateral (
                    select token from start_tokens where installation = r.installation
                        and attributes_type = \(shard.attributesType) and suspect_since is null offset 0) t
                where s.ctid = k.ctid and t.token <> decode(r.token, 'hex')
                """,
                // After the last shard the run is due at once: followers may be left, or something changed meanwhile.
                """
                update start_runs set \(Self.ending(shard)), due_at = case when \(Self.hasMoreShards) then due_at else \(now) end
                where id = \(shard.owner)
                """, Self.finish(shard.owner, now: now),
            ]
        try await dispatch.transaction { connection in
            let rows = try await connection.query(
                "select from start_runs where \(Self.holds(shard, replica)) for no key update")
            guard !rows.isEmpty else { return }
            try await connection.pipeline(statements)
            let verdicts = outcomes.compactMap(\.verdict)
            WebhookNews.note(
                verdicts.compactMap { verdict in
                    StartRowState(verdict).map { .startPushed($0, reason: verdict.reason) }
                }, at: now)
        }
    }

    private static let tokenReasons = TokenVerdict.tokenReasons.map(\.rawValue).sorted()

    /// A start that the app has confirmed is not sent again: its activity is there, whoever started it. A push that was
    /// not made is due at once.
    private static func record(_ results: [PushOutcome], of shard: Shard, now: Date) -> PostgresQuery {
        let next = results.map { result -> (state: String?, dueAt: Date?, attempts: Int) in
            let attempts = result.member.attempts
            return switch result.verdict {
            case nil: (nil, now, attempts)
            case .retry(let time, _)?: (nil, time, attempts + 1)
            case let verdict?: (StartRowState(verdict)?.rawValue, nil, attempts)
            }
        }
        return """
            update starts s set state = case when r.due_at is null then r.state when s.confirmed_at is null then 'pending'
                    else 'unknown' end::start_state,
                due_at = case when s.confirmed_at is null then r.due_at end, attempts = r.attempts,
                reason = case when r.due_at is null then r.reason end, at = r.at
            from unnest(\(results.map(\.member.row)), \(next.map(\.state)), \(next.map(\.dueAt)),
                \(next.map(\.attempts)), \(results.map(\.verdict?.reason)), \(results.map(\.sentAt)))
                as r(installation, state, due_at, attempts, reason, at)
            cross join lateral (
                select ctid from starts where run = \(shard.owner) and installation = r.installation offset 0) k
            where s.ctid = k.ctid
            """
    }
}
