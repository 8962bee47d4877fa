internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension StartStore {
    /// Records the outcomes of a shard's pushes, removes tokens as the answers require, and ends the lease. If another
    /// replica has the lease by now, nothing changes, because that replica has counted the shard as unknown.
    func settle(_ shard: StartShard, _ outcomes: [StartOutcome], replica: UUID, now: Date) async throws {
        guard !shard.closes else { return try await end(shard.run, replica: replica, now: now) }
        let results = outcomes.sorted { $0.member.installation < $1.member.installation }
        let lock: PostgresQuery = """
            select from unnest(\(results.map(\.member.installation))) n(id) cross join lateral (
                select from starts where run = \(shard.run) and installation = n.id for no key update) s
            """
        let statements =
            TokenCare(outcomes, at: now).startTokens(of: shard.attributesType) + [
                // The starts are locked in the order in which registrations lock them. This is a statement of its own, so
                // that `record` sees the tokens of a registration that had locked a start.
                lock, Self.record(results, of: shard, now: now), Self.release(shard, results, now: now),
                Self.finish(shard.run, now: now),
            ]
        try await dispatch.transaction { connection in
            // The same replica may have leased the run again for another shard, so the lease's number is compared, too.
            let rows = try await connection.query(
                """
                select from start_runs where id = \(shard.run) and leased_by = \(replica) and leases = \(shard.lease)
                for no key update
                """)
            guard !rows.isEmpty else { return }
            try await connection.pipeline(statements)
        }
    }

    /// APNs' reasons for refusing a push because of its token. Such a push started nothing, and an installation that
    /// has another token is tried again.
    static let tokenReasons = ["Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic"]

    /// An installation that registered another token while APNs refused its token is tried again. A start that the app
    /// has confirmed is not sent again: its activity is there, whoever started it. A push that was not made is due at
    /// once.
    private static func record(_ results: [StartOutcome], of shard: StartShard, now: Date) -> PostgresQuery {
        let states = results.map { $0.verdict.flatMap(StartState.init)?.rawValue }
        var (dueAt, attempts): ([Date?], [Int]) = ([], [])
        for result in results {
            if case .retry(let time, _)? = result.verdict {
                dueAt.append(time)
                attempts.append(result.member.attempts + 1)
            } else {
                dueAt.append(result.verdict == nil ? now : nil)
                attempts.append(result.member.attempts)
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
            from unnest(\(results.map(\.member.installation)), \(states), \(dueAt), \(attempts),
                \(results.map(\.verdict?.reason)), \(results.map(\.sentAt)), \(results.map(\.member.token.hex)))
                as r(installation, state, due_at, attempts, reason, at, token)
            cross join lateral (
                select ctid from starts where run = \(shard.run) and installation = r.installation offset 0) k
            where s.ctid = k.ctid
            """
    }

    /// Ends the shard and, with the last one, the lease of the run. The run is due at once if not all followers have
    /// their starts, or if the run was made due meanwhile. Pending starts have their own due times.
    private static func release(_ shard: StartShard, _ outcomes: [StartOutcome], now: Date) -> PostgresQuery {
        let settled = outcomes.count { $0.verdict.flatMap(StartState.init) != nil }
        let firstSentAt = outcomes.filter { $0.verdict != nil }.map(\.sentAt).min()
        return """
            update start_runs set \(endShard), started_at = least(started_at, \(firstSentAt)),
                rate_from = case when rate_until is null then least(rate_from, \(firstSentAt)) else rate_from end,
                rate_answered = rate_answered + case when rate_until is null then \(settled) else 0 end,
                due_at = case when shards > 1 then due_at
                    when cursor is not null or restart_after is not null or due_at < leased_until then \(now)
                    when passed_over <> '{}' then \(later(than: now))
                    else \(nextLook(until: shard.until, now: now)) end
            where id = \(shard.run)
            """
    }
}
