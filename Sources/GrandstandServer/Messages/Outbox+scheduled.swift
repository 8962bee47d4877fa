internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Broadcasts with a `sendAt`.
extension Outbox {
    /// When the next scheduled broadcast is due; `nil`: none waits.
    func nextScheduled() async throws -> Date? {
        try await bulk.query("select min(send_at) as at from broadcasts where scheduled").first?
            .decode(Date?.self, "at")
    }

    /// Puts scheduled broadcasts whose time has come into their lanes.
    ///
    /// - Returns: the number of broadcasts.
    func promote(now: Date, limit: Int) async throws -> Int {
        let (count, topics) = try await database.transaction { connection -> (Int, Set<WakeTopic>) in
            let due = try await connection.query(
                """
                select b.id, b.event_key, b.channel from broadcasts b where b.scheduled and b.send_at <= \(now)
                order by b.send_at, b.accepted_at, b.id limit \(limit)
                """)
            // Events are locked before their broadcasts, as a cancellation locks them.
            let ids: [UUID] = try due.map { try $0.decode("id") }
            let targets = try due.compactMap { try $0.target() }
            guard !targets.isEmpty else { return (0, []) }
            var acceptance = try await Self.lockLoad(targets, comparing: true, for: self, on: connection, now: now)
            let rows = try await connection.query(
                """
                select b.id, b.event_key, b.channel, b.accepted_at, b.send_at, b.reach, \(BroadcastRows.draft())
                from broadcasts b where b.id = any(\(ids)) and b.scheduled and b.send_at <= \(now)
                order by b.send_at, b.accepted_at, b.id for update skip locked
                """)
            var scheduled = try rows.compactMap(Intake.init(scheduled:))
            let refusals = scheduled.indices.map { index -> String? in
                do throws(Problem) { try acceptance.sendScheduled(&scheduled[index]) } catch { return error.detail }
                return nil
            }
            try await connection.pipeline(Self.statements(acceptance))
            WebhookNews.note(broadcasts: scheduled.map(\.id), at: now)
            let drafts = scheduled.map(\.request)
            try await connection.query(
                """
                update broadcasts b set scheduled = false, cancelled = r.detail is not null, stale_date = r.stale_date,
                    relevance_score = r.relevance_score::json,
                    warnings = case when r.detail is null then b.warnings
                        else b.warnings || ('not sent: ' || r.detail) end
                from unnest(\(scheduled.map(\.id)), \(drafts.map(\.staleDate?.epoch)),
                    \(drafts.map(\.relevanceScore?.description)), \(refusals))
                    as r(id, stale_date, relevance_score, detail)
                where b.id = r.id
                """)
            return (scheduled.count, acceptance.topics)
        }
        wakeUps.send(topics)
        return count
    }
}
