internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension StartStore {
    /// Records the outcomes of a shard's pushes, removes tokens as the answers require, and ends the lease. If another
    /// replica has the lease by now, nothing changes, because that replica has counted the shard as unknown.
    func settle(_ shard: StartShard, _ verdicts: [StartOutcome], replica: UUID, now: Date) async throws {
        guard !shard.closes else { return try await end(shard.run, replica: replica, now: now) }
        let work = Settlement(shard, verdicts, now: now)
        try await dispatch.transaction { connection in
            // The same replica may have leased the run again for another shard, so the lease's number is compared, too.
            let rows = try await connection.query(
                """
                select from start_runs where id = \(shard.run) and leased_by = \(replica) and leases = \(shard.lease)
                for no key update
                """)
            guard !rows.isEmpty else { return }
            try await connection.pipeline(work.statements)
        }
    }

    /// A shard's verdicts as rows.
    private struct Settlement {
        let shard: StartShard
        let now: Date
        /// The members in order of their installations, each with the outcome of its push.
        private let results: [(member: StartShard.Member, result: StartResult, sentAt: Date)]
        private let care: TokenCare
        private let firstSentAt: Date?

        init(_ shard: StartShard, _ outcomes: [StartOutcome], now: Date) {
            self.shard = shard
            self.now = now
            let made = Dictionary(outcomes.map { ($0.member.installation, $0) }) { first, _ in first }
            results = shard.members.sorted { $0.installation < $1.installation }.map { member in
                let outcome = made[member.installation]
                return (
                    member, StartResult(outcome?.verdict, after: member.attempts, at: now), outcome?.sentAt ?? now
                )
            }
            care = TokenCare(
                outcomes.compactMap { outcome in
                    outcome.verdict.map {
                        TokenCare.Answer(
                            owner: outcome.member.installation, token: outcome.member.token, sentAt: outcome.sentAt,
                            verdict: $0)
                    }
                })
            firstSentAt = outcomes.filter { $0.verdict != nil }.map(\.sentAt).min()
        }

        private var attributesType: String { shard.pushes.first?.payload.attributesType ?? "" }

        var statements: [PostgresQuery] {
            care.pruning(.starts(attributesType: attributesType), now: now)
                + [lock, record, release, StartStore.finish(shard.run, now: now)]
        }

        /// Locks the starts in the order in which registrations lock them. This is a statement of its own, so that
        /// `record` sees the tokens of a registration that had locked a start.
        private var lock: PostgresQuery {
            """
            select from unnest(\(results.map(\.member.installation))) n(id) cross join lateral (
                select from starts where run = \(shard.run) and installation = n.id for no key update) s
            """
        }

        /// An installation that registered another token while APNs refused its token is tried again. A start that the
        /// app has confirmed is not sent again: its activity is there, whoever started it.
        private var record: PostgresQuery {
            """
            update starts s set (state, due_at, attempts, reason, at) = (
                select case when c.is_again then 'pending' when r.due_at is null then r.state::start_state
                        when s.confirmed_at is null then 'pending' else 'unknown' end::start_state,
                    case when c.is_again then \(now) when s.confirmed_at is null then r.due_at end,
                    case when c.is_again then 0 else r.attempts end,
                    case when not c.is_again then r.reason end, r.at
                from (select r.state = 'rejected' and r.reason = any(\(StartResult.tokenReasons)) and exists (
                    select from start_tokens where installation = s.installation and suspect_since is null
                        and attributes_type = \(attributesType) and token <> decode(r.token, 'hex'))) c(is_again))
            from unnest(\(results.map(\.member.installation)), \(results.map(\.result.state.rawValue)),
                \(results.map(\.result.dueAt)), \(results.map(\.result.attempts)), \(results.map(\.result.reason)),
                \(results.map(\.sentAt)), \(results.map(\.member.token.hex)))
                as r(installation, state, due_at, attempts, reason, at, token)
            where s.installation = r.installation
                and s.\(StartStore.locked(results.map(\.member.installation), of: shard.run))
            """
        }

        /// Ends the lease of the run. The run is due at once if not all followers have their starts, or if the run was
        /// made due meanwhile. Pending starts have their own due times.
        private var release: PostgresQuery {
            let settled = results.count { $0.result.state.isSettled }
            return """
                update start_runs set leased_by = null, leased_until = null,
                    started_at = least(started_at, \(firstSentAt)),
                    rate_from = case when rate_until is null then least(rate_from, \(firstSentAt)) else rate_from end,
                    rate_answered = rate_answered + case when rate_until is null then \(settled) else 0 end,
                    due_at = case when cursor is not null or restart_after is not null or due_at < leased_until then \(now)
                        when passed_over <> '{}' then \(StartStore.later(than: now))
                        else \(StartStore.nextLook(until: shard.until, now: now)) end
                where id = \(shard.run)
                """
        }
    }
}
