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
            // The installations (`noted`) are compared, too, because the same replica may have leased the run again for
            // another shard.
            let rows = try await connection.query(
                """
                select from fan_outs where id = \(shard.run) and leased_by = \(replica)
                    and noted = \(shard.members.map(\.installation)) for no key update
                """)
            guard !rows.isEmpty else { return }
            try await connection.pipeline(work.statements)
        }
    }

    /// A shard's verdicts as rows.
    private struct Settlement {
        let shard: StartShard
        let now: Date
        var settled: [(installation: Int, state: StartState, reason: String?, at: Date)] = []
        var again: [(installation: Int, attempts: Int, at: Date)] = []
        let care: TokenCare
        let firstSentAt: Date?

        init(_ shard: StartShard, _ outcomes: [StartOutcome], now: Date) {
            self.shard = shard
            self.now = now
            let made = Dictionary(outcomes.map { ($0.member.installation, $0) }) { first, _ in first }
            for member in shard.members.sorted(by: { $0.installation < $1.installation }) {
                let outcome = made[member.installation]
                if let next = FanOutPolicy.start.again(outcome?.verdict, after: member.attempts, at: now, jitter: 0) {
                    again.append((member.installation, next.attempts, next.at))
                } else if let outcome, let verdict = outcome.verdict, let state = StartState(verdict) {
                    settled.append((member.installation, state, verdict.reason, outcome.sentAt))
                }
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

        var statements: [PostgresQuery] {
            var statements = care.pruning(
                .starts(attributesType: shard.pushes.first?.payload.attributesType ?? ""), now: now)
            if !settled.isEmpty { statements.append(results) }
            if !again.isEmpty { statements.append(repetitions) }
            return statements + [release, StartStore.finish(shard.run, now: now)]
        }

        /// The app may have confirmed the activity before this settlement. In this case the row exists in state
        /// `unknown`, and the settlement completes the row.
        private var results: PostgresQuery {
            """
            insert into starts as s (run, installation, state, reason, at)
            select \(shard.run), r.installation, r.state::start_state, r.reason, r.at
            from unnest(\(settled.map(\.installation)), \(settled.map(\.state.rawValue)), \(settled.map(\.reason)),
                \(settled.map(\.at))) as r(installation, state, reason, at)
            on conflict (run, installation) do update set state = excluded.state, reason = excluded.reason,
                at = excluded.at
            where s.state = 'unknown'
            """
        }

        /// Rows are inserted in order of installations. Registrations insert in the same order, so the two cannot
        /// deadlock.
        private var repetitions: PostgresQuery {
            """
            insert into fan_out_queue as q (run, member, attempts, due_at)
            select \(shard.run), a.installation, a.attempts, a.due_at
            from unnest(\(again.map(\.installation)), \(again.map(\.attempts)), \(again.map(\.at)))
                as a(installation, attempts, due_at)
            order by a.installation
            on conflict (member, run) do update set attempts = excluded.attempts, due_at = excluded.due_at
            """
        }

        /// Ends the lease of the run. The run is due at once if its sweep continues or if the run was made due
        /// meanwhile. The members in its queue have their own due times.
        private var release: PostgresQuery {
            """
            update fan_outs set noted = '{}', leased_by = null, leased_until = null,
                started_at = least(started_at, \(firstSentAt)),
                rate_from = case when rate_until is null then least(rate_from, \(firstSentAt)) else rate_from end,
                rate_answered = rate_answered + case when rate_until is null then \(settled.count) else 0 end,
                due_at = case when not is_swept or restart_after is not null or due_at < leased_until then \(now)
                    when passed_over <> '{}' then \(StartStore.later(than: now))
                    else \(StartStore.nextLook(until: shard.until, now: now)) end
            where id = \(shard.run)
            """
        }
    }
}
