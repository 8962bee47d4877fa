internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The members of the next shard.
extension StartStore {
    /// The most rounds in which followers are read for one shard. If hardly any of them can get a start, the shard stays
    /// small, and the run's next shard continues from there.
    private static let rounds = 8

    /// The members of a run's next shard: the starts that have been due for the longest, then followers that have no row
    /// yet. Their rows are written as `sending`. Due starts that cannot be sent lose their rows: registering again brings
    /// them back, and so does the reading of all followers once the audience of their variant can start.
    ///
    /// Due starts are locked first, and another statement reads the installations. If an installation registers between
    /// the two, the registration waits for this transaction, and then adds the installation again. If a token moves to
    /// another installation while its former holder gets a row, the new holder waits for this row (`inherit`).
    ///
    /// - Returns: the broadcasts whose contents the shard's pushes show.
    static func fill(
        _ shard: inout Shard, of run: inout StartRun, _ pushes: [StartPush], among variants: [String],
        _ claim: WorkClaim, on connection: PostgresConnection
    ) async throws -> Set<UUID> {
        try await connection.query(inherit(run.id))
        let size = claim.size(of: shard.address.bundleID)
        let choice = VariantChoice(variants.map { $0.isEmpty ? nil : $0 })
        var (members, forms, passedOver): ([Shard.Member], [StartForm: Int], Set<String>) = ([], [:], run.passedOver)
        let (id, type) = (run.id, shard.attributesType)
        let mayBegin: PostgresQuery = "(\(mayChange) or \(isDeaf(run, pushes, type))) and \(isFree)"
        // Starts those who get a push. Others have no usable token, or an audience that has no push yet, for example
        // because its channel is not active.
        func begin(_ rows: PostgresRows) async throws {
            var found: [Int: Shard.Member] = [:]
            for row in rows {
                let bytes: [UInt8]? = try row.decode("token")
                guard let token = bytes.flatMap(DeviceToken.init(bytes:)) else { continue }
                let (installation, locale): (Int, String?) = (try row.decode("installation"), try row.decode("locale"))
                // The audience that the follower is started on.
                let variant = variants[choice.index(named: try row.decode("variant"), locale: locale) ?? 0]
                guard let push = pushes.firstIndex(where: { $0.variant == variant }) else {
                    passedOver.insert(variant)
                    continue
                }
                let system = SystemVersion(number: try row.decode("system_version"))
                let form = StartForm(push: push, hasInput: system >= .firstWithChannels, locale: locale)
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
                let installation: Int = try row.decode("installation")
                guard var member = found[installation] else { continue }
                member.attempts = try row.decode("attempts")
                members.append(member)
            }
        }
        // While followers have no rows yet, half of the shard is theirs, however many others register again and again.
        let share = run.cursor == nil ? size : size / 2
        let due: [Int] = try await connection.query(
            """
            select installation from starts s
            where run = \(run.id) and state = 'pending' and due_at <= \(claim.at) and \(isFree)
            order by due_at, installation limit \(share) for no key update skip locked
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
        for _ in 0..<rounds where members.count < size {
            guard let cursor = run.cursor else { break }
            let limit = size - members.count
            let followers = try await connection.query(followers(of: run, type, after: cursor, limit))
            run.cursor = followers.count < limit ? nil : try followers.last?.decode("installation")
            try await begin(followers)
        }
        run.passedOver = passedOver
        let sent = forms.sorted { $0.value < $1.value }.map(\.key)
        shard.pushes = sent.map { pushes[$0.push].push(hasInput: $0.hasInput, locale: $0.locale, run: id) }
        shard.members = members
        return Set(members.compactMap { pushes[sent[$0.push].push].content })
    }

    /// What decides the bytes of a member's push.
    private struct StartForm: Hashable {
        /// The index of the push that the member's audience gets.
        let push: Int
        /// Whether the push says where the activity gets its updates from. Systems before iOS 18 do not know
        /// `input-push-channel` and `input-push-token`, and start nothing from a push with one
        /// (docs/internals/apns.md 3.2).
        let hasInput: Bool
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
            select i.*, t.token from (select) n \(canStart("f.installation", "\(attributesType)"))) c on true
        order by f.installation
        """
    }

    /// How the due starts are sent; no row: it is not sent any more.
    private static func candidates(_ due: [Int], of run: StartRun, _ attributesType: String) -> PostgresQuery {
        """
        select f.installation, i.system_version, i.locale, i.variant, t.token from unnest(\(due)) f(installation)
        \(canStart("f.installation", "\(attributesType)"))
        where exists (select from follows where installation = f.installation and topic = any(\(run.topics)))
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

    /// Whether no installation that had the token of start `s` before got the start, or may have got it.
    private static let isFree: PostgresQuery = """
        (s.former is null or not exists (
            select from starts where run = s.run and installation = any(s.former)
                and state in ('sending', 'accepted', 'unknown') offset 0))
        """

    /// Whether the start `s` is sent again, because its activity listens to a channel that was replaced since, and the
    /// event's start declares `restart`. If a push started an activity, the app may not have reported the activity's
    /// channel. Such an activity counts as listening to the replaced channel if it was first reported before the new
    /// channel was made. An activity with an update token does not count, because messages reach it by its token.
    private static func isDeaf(_ run: StartRun, _ pushes: [StartPush], _ attributesType: String) -> PostgresQuery {
        let channels = pushes.filter { $0.channelID != nil }
        return """
            s.state in ('accepted', 'rejected', 'unknown')
            and (select restarts from event_starts where event_key = \(run.eventKey))
            and (select system_version >= \(SystemVersion.firstWithChannels.number) from installations
                where id = s.installation)
            and exists (
                select from activities a join unnest(
                    \(channels.map(\.variant)), \(channels.map(\.channelID)), \(channels.map(\.channelMadeAt)))
                    as c(variant, channel_id, made_at) on c.variant = a.variant and c.made_at > s.at
                where a.installation = s.installation and a.event_key = \(run.eventKey)
                    and a.attributes_type = \(attributesType) and a.state in ('active', 'stale')
                    and a.update_token is null
                    and coalesce(a.channel_id <> c.channel_id, a.first_reported_at < c.made_at) offset 0)
            """
    }

    /// Makes the run of an app read all followers again (`isDeaf`), if the event's start declares `restart` and the
    /// audience of this channel had another channel before.
    static func restart(_ channel: Channel, of key: EventKey) -> PostgresQuery {
        """
        update start_runs set cursor = 0
        where event_key = \(key.rawValue) and closed_at is null
            and exists (select from event_starts where event_key = \(key.rawValue) and restarts)
            and app = (select id from app_environments where bundle_id = \(channel.bundleID.rawValue)
                and environment = \(channel.environment.rawValue)::environment)
            and exists (select from (select * from channels where event_key = \(key.rawValue) offset 0) k
                where k.id <> \(channel.id) and k.channel_id is not null
                    and \(AudienceColumns.isSame("k", channel.audience)))
        """
    }

    /// An installation that took over a token counts as started if the token's former holder got the start, or may have
    /// got it. If the former holder is in the run's other shard, the result of its push does not exist yet, and
    /// `isFree` lets the installation wait. Starts that a registration has locked are skipped. The condition on
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
        // The run was closed.
        guard !shard.members.isEmpty else { return try await end(shard, replica: replica, now: now) }
        let results = outcomes.sorted { $0.member.row < $1.member.row }
        let lock: PostgresQuery = """
            select from unnest(\(results.map(\.member.row))) n(id) cross join lateral (
                select from starts where run = \(shard.owner) and installation = n.id for no key update) s
            """
        let statements =
            outcomes.startTokens(of: shard.attributesType, at: now) + [
                // The starts are locked in the order in which registrations lock them. This is a statement of its own, so
                // that `record` sees the tokens of a registration that had locked a start.
                lock, Self.record(results, of: shard, now: now),
                // After the last shard the run is due at once: followers may be left, or something changed meanwhile.
                """
                update start_runs set \(Self.ending(shard)), due_at = case when \(Self.hasOthers) then due_at else \(now) end
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
                    StartState(verdict).map { .started($0, reason: verdict.reason) }
                }, at: now)
        }
    }

    /// APNs' reasons for refusing a push because of its token. Such a push started nothing, and an installation that
    /// has another token is tried again.
    static let tokenReasons = ["Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic"]

    /// An installation that registered another token while APNs refused its token is tried again. A start that the app
    /// has confirmed is not sent again: its activity is there, whoever started it. A push that was not made is due at
    /// once.
    private static func record(_ results: [PushOutcome], of shard: Shard, now: Date) -> PostgresQuery {
        let next = results.map { result -> (state: String?, dueAt: Date?, attempts: Int) in
            let attempts = result.member.attempts
            return switch result.verdict {
            case nil: (nil, now, attempts)
            case .retry(let time, _)?: (nil, time, attempts + 1)
            case let verdict?: (StartState(verdict)?.rawValue, nil, attempts)
            }
        }
        return """
            update starts s set (state, due_at, attempts, reason, at) = (
                select case when c.is_again then 'pending' when r.due_at is null then r.state::start_state
                        when s.confirmed_at is null then 'pending' else 'unknown' end::start_state,
                    case when c.is_again then \(now) when s.confirmed_at is null then r.due_at end,
                    case when c.is_again then 0 else r.attempts end,
                    case when not c.is_again and r.due_at is null then r.reason end, r.at
                from (select r.state = 'rejected' and r.reason = any(\(tokenReasons)) and exists (
                    select from start_tokens where installation = s.installation and suspect_since is null
                        and attributes_type = \(shard.attributesType) and token <> decode(r.token, 'hex'))) c(is_again))
            from unnest(\(results.map(\.member.row)), \(next.map(\.state)), \(next.map(\.dueAt)),
                \(next.map(\.attempts)),
                \(results.map(\.verdict?.reason)), \(results.map(\.sentAt)), \(results.map(\.member.token.hex)))
                as r(installation, state, due_at, attempts, reason, at, token)
            cross join lateral (
                select ctid from starts where run = \(shard.owner) and installation = r.installation offset 0) k
            where s.ctid = k.ctid
            """
    }
}
