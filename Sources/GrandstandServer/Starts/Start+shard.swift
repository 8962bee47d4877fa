internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The members of the next shard.
extension StartStore {
    /// The most rounds in which followers are read for one shard. Each round reads as many followers as a shard may
    /// have members. If hardly any follower can get a start, the shard stays small, and the run's next shard continues
    /// from there.
    private static let rounds = 8

    /// The members of a run's next shard. They come from two sources: the sweep reads all followers in the order of
    /// installations, and the queue has installations that registered during the run or are tried again.
    ///
    /// Until the sweep has come to the end, the queue gets at most half of the shard, so that the sweep continues
    /// however many installations register. The sweep skips an installation that can get no start; registering again
    /// puts the installation into the queue. The sweep also skips an installation that is in the queue already.
    static func nextMembers(
        of run: inout StartRun, _ pushes: StartAudiences.Pushes, _ shard: StartShard, _ claim: ShardClaim,
        on connection: PostgresConnection
    ) async throws -> [StartShard.Member] {
        let size = claim.size(of: shard.address.bundleID)
        var chosen = Chosen(pushes)
        try await takeQueue(of: run, shard, claim, limit: run.isSwept ? size : size / 2, into: &chosen, on: connection)
        for _ in 0..<rounds where !run.isSwept && chosen.members.count < size {
            let rows = try await connection.query(
                candidates(next(of: run, limit: size), of: run, shard))
            var isCut = false
            for row in rows {
                guard chosen.members.count < size else {
                    isCut = true
                    break
                }
                run.cursor = try row.decode("installation")
                if try row.decode(String?.self, "start_state") == nil, try !row.decode(Bool.self, "is_queued") {
                    try chosen.add(row)
                }
            }
            run.isSwept = !isCut && rows.count < size
        }
        run.passedOver.formUnion(chosen.passedOver)
        return chosen.members
    }

    private struct Chosen {
        /// The data by which a follower's audience is chosen.
        private struct Preference: Hashable {
            let variant: String?
            let locale: String?
        }

        private let pushes: StartAudiences.Pushes
        private(set) var members: [StartShard.Member] = []
        /// Variants of followers that could get a start, but whose audience has no push yet, for example because its
        /// channel is not active.
        private(set) var passedOver: Set<String> = []
        /// The installations of `members`, and of the followers whose variants are in `passedOver`.
        private(set) var present: Set<Int> = []
        private var places: [Preference: Int] = [:]

        init(_ pushes: StartAudiences.Pushes) { self.pushes = pushes }

        /// The audience that a follower is started on. It is the same for equal preferences.
        private mutating func place(_ preference: Preference) -> StartAudiences.Pushes.Place {
            guard pushes.places.count > 1 else { return pushes.places[0] }
            let known =
                places[preference] ?? pushes.choice.index(named: preference.variant, locale: preference.locale) ?? 0
            places[preference] = known
            return pushes.places[known]
        }

        /// Adds the installation in a row of `candidates`, unless the installation can get no start.
        mutating func add(_ row: PostgresRow) throws {
            let installation: Int = try row.decode("installation")
            let locale: String? = try row.decode("locale")
            let place = place(Preference(variant: try row.decode("variant"), locale: locale))
            let token = DeviceToken(bytes: try row.decode([UInt8]?.self, "token") ?? [])
            let form = StartForm(
                systemVersion: SystemVersion(number: try row.decode("system_version")),
                liveActivitiesEnabled: try row.decode("live_activities_enabled"), hasToken: token != nil,
                delivery: place.delivery)
            guard let token, form.getsOne, present.insert(installation).inserted else { return }
            guard let push = place.push else {
                passedOver.insert(place.variant)
                return
            }
            members.append(
                StartShard.Member(
                    installation: installation, token: token, push: push, form: form, locale: locale,
                    attempts: try row.decode("attempts")))
        }
    }

    /// Takes due members from the queue. Their rows are deleted first, and another statement reads the installations.
    /// If an installation registers between the two statements, the registration waits for this transaction, and then
    /// queues the installation again.
    ///
    /// Rows are deleted by `ctid`. If they were found by run and installation, a plan made for an empty table would
    /// read the run's whole queue.
    private static func takeQueue(
        of run: StartRun, _ shard: StartShard, _ claim: ShardClaim, limit: Int, into chosen: inout Chosen,
        on connection: PostgresConnection
    ) async throws {
        guard limit > 0 else { return }
        let rows = try await connection.query(
            """
            delete from fan_out_queue where ctid = any(array(
                select ctid from fan_out_queue where run = \(run.id) and delivery is null and due_at <= \(claim.at)
                order by due_at limit \(limit) for update skip locked))
            returning member as installation, attempts, former
            """)
        guard !rows.isEmpty else { return }
        let queued: [(installation: Int, attempts: Int)] = try rows.map {
            (try $0.decode("installation"), try $0.decode("attempts"))
        }
        try await inherit(run.id, rows.map(\.self), on: connection)
        var again: [Int] = []
        let known = try await connection.query(
            candidates(
                """
                select q.* from unnest(\(queued.map(\.installation)), \(queued.map(\.attempts)))
                    as q(installation, attempts)
                where exists (select from follows where installation = q.installation and topic = any(\(run.topics)))
                """, of: run, shard))
        for row in known {
            if let state = try row.optionalWord("start_state", as: StartState.self) {
                // APNs refused the push because of its token, so the push started nothing. The installation may have
                // another token now, so it is tried again.
                guard state == .rejected, Self.isOfToken(try row.decode("start_reason")) else { continue }
                again.append(try row.decode("installation"))
            }
            try chosen.add(row)
        }
        // Deletes the rows of `starts` in which these followers' pushes were refused. This includes followers that wait
        // for their audience: without the row, the sweep finds them when it begins again.
        let chosenAgain = chosen.present.intersection(again).sorted()
        guard !chosenAgain.isEmpty else { return }
        try await connection.query(
            "delete from starts where run = \(run.id) and installation = any(\(chosenAgain))")
    }

    /// An installation that took over a token counts as started if the token's former holder got the start, or may have
    /// got it. A run's shard is settled or given up before the run's next shard is taken, so the results of all pushes
    /// to the former holder exist.
    private static func inherit(_ run: Int, _ queued: [PostgresRow], on connection: PostgresConnection) async throws {
        var pairs: [(heir: Int, former: Int)] = []
        for row in queued {
            let heir: Int = try row.decode("installation")
            pairs += try (row.decode([Int]?.self, "former") ?? []).map { (heir, $0) }
        }
        guard !pairs.isEmpty else { return }
        try await connection.query(
            inherit(run, from: "select * from unnest(\(pairs.map(\.heir)), \(pairs.map(\.former)))"))
    }

    /// - Parameter pairs: rows with two installations: one that took over a token, and one that had this token before.
    static func inherit(_ run: Int, from pairs: PostgresQuery) -> PostgresQuery {
        """
        insert into starts (run, installation, state, reason, at)
        select distinct on (p.heir) \(run), p.heir, s.state, s.reason, s.at from (\(pairs)) p(heir, former)
        cross join lateral (
            select state, reason, at from starts where run = \(run) and installation = p.former offset 0) s
        where s.state <> 'rejected' order by p.heir
        on conflict (run, installation) do nothing
        """
    }

    /// Whether APNs refused a push because of its token.
    private static func isOfToken(_ reason: String?) -> Bool {
        ["Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic"].contains(reason)
    }

    /// The next followers of any of the topics, each follower once, in order of their installations. The query reads
    /// one index range for each topic, with at most `limit` rows in each.
    private static func next(of run: StartRun, limit: Int) -> PostgresQuery {
        """
        select distinct f.installation, 0::bigint as attempts
        from (select distinct topic from unnest(\(run.topics)) t(topic)) t cross join lateral (
            select installation from follows
            where app = \(run.app) and topic = t.topic and installation > \(run.cursor)
            order by installation limit \(limit)) f
        order by f.installation limit \(limit)
        """
    }

    /// The columns that decide whether and how each of `relation` (installation, attempts) gets a start, looked up by
    /// key, in order of installations.
    private static func candidates(
        _ relation: PostgresQuery, of run: StartRun, _ shard: StartShard
    ) -> PostgresQuery {
        """
        with f as materialized (\(relation))
        select f.installation, f.attempts, i.system_version, i.live_activities_enabled, i.locale, i.variant, t.token,
            s.state as start_state, s.reason as start_reason,
            q.run is not null as is_queued
        from f cross join lateral (
            select system_version, live_activities_enabled, locale, variant from installations where id = f.installation
            offset 0) i
        left join lateral (
            select token from start_tokens where installation = f.installation
                and attributes_type = \(shard.pushes[0].payload.attributesType) and suspect_since is null offset 0) t on true
        left join lateral (
            select state, reason from starts where run = \(run.id) and installation = f.installation offset 0) s on true
        left join lateral (
            select run from fan_out_queue where run = \(run.id) and member = f.installation offset 0) q on true
        order by f.installation
        """
    }
}

extension StartForm {
    /// Whether an installation with this form gets a push to start an activity.
    fileprivate var getsOne: Bool {
        if case .ineligible = self { false } else { true }
    }
}
