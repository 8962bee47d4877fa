internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension Outbox {
    /// Accepts broadcasts in order, each independently, in one transaction. The broadcast, its deliveries and the
    /// newest state commit together. Right after the commit, the loops that have work are woken.
    ///
    /// Single broadcasts that arrive close together share a transaction. A call inside a joined transaction
    /// (`Database.isJoined`) uses that transaction instead.
    ///
    /// - Returns: one result for each item, in order.
    func accept(_ items: [Intake]) async throws -> [Result<Contract.Broadcast, Problem>] {
        try await decide(items).map { result in
            result.flatMap { $0.map(Result.success) ?? .failure(.unansweredBroadcast) }
        }
    }

    /// Accepts one broadcast.
    ///
    /// - Throws: the `Problem` that refuses it; then nothing was changed.
    func accept(_ intake: Intake) async throws -> Contract.Broadcast { try await accept([intake])[0].get() }

    /// Decides what a reported state of an event sends, under the event's lock, and accepts the message. States share
    /// transactions with broadcasts. A state that arrives while a transaction is under way is decided in the next
    /// transaction.
    ///
    /// - Returns: the broadcast of the state; `nil`: nothing is new.
    /// - Throws: the `Problem` with which the state is refused. Then nothing was changed.
    func tell(_ state: Intake) async throws -> Contract.Broadcast? { try await decide([state])[0].get() }

    private func decide(_ items: [Intake]) async throws -> [Result<Contract.Broadcast?, Problem>] {
        guard !items.isEmpty else { return [] }
        guard items.count == 1, !database.isJoined, let acceptances else {
            return await counted(try await commit(items, on: bulk))
        }
        return await counted([try await acceptances.run(items[0])])
    }

    /// Makes items durable in one transaction, in order, and then wakes the loops that have work.
    ///
    /// - Returns: for each item its broadcast; `nil`: the item was a state that changed nothing.
    func commit(_ items: [Intake], on database: Database) async throws -> [Result<Contract.Broadcast?, Problem>] {
        let now = (items.map(\.at).max() ?? .distantPast).inMicroseconds
        let isJoined = database.isJoined
        let (results, topics) = try await database.transaction { connection in
            var acceptance = try await lock(
                items.map(\.target), comparing: items.contains(where: \.comparesContents), on: connection, now: now)
            let results = items.map { item in Result { () throws(Problem) in try acceptance.decide(item) } }
            WebhookNews.note(acceptance.occurrences, at: now)
            return (results, acceptance)
        } closing: { _, acceptance in
            let statements = Self.statements(acceptance)
            // A state that changes nothing writes nothing. So this commit only releases locks, and need not wait for
            // the disk.
            return statements.isEmpty && !isJoined ? ["set local synchronous_commit to off"] : statements
        } _: { work, _ in
            (work.0, work.1.topics)
        }
        database.afterCommit { wakeUps.send(topics) }
        return results
    }

    /// Adds to each accepted broadcast the number of its tokens. There may be a million of them, so they are counted after
    /// the commit, without a lock. In a joined transaction they are not counted,
    /// because the messages would have to wait for the count. If the count fails, the broadcast stays accepted.
    private func counted(
        _ results: [Result<Contract.Broadcast?, Problem>]
    ) async -> [Result<Contract.Broadcast?, Problem>] {
        let accepted = results.compactMap { try? $0.get() }
        let ids = accepted.filter { $0.deliveries.contains { $0.counts != nil } }.map(\.uuid)
        guard !ids.isEmpty, !database.isJoined, let read = try? await deliveries(of: ids, within: .all) else {
            return results
        }
        return results.map { result in
            result.map { accepted in
                guard var broadcast = accepted, let deliveries = read[broadcast.uuid] else { return accepted }
                for (index, delivery) in zip(broadcast.deliveries.indices, deliveries) {
                    broadcast.deliveries[index].counts = delivery.counts
                }
                return broadcast
            }
        }
    }

    /// The preview of a broadcast or a state of an event, as if the server accepted it now, under the same locks. It
    /// changes nothing.
    ///
    /// - Returns: the preview of the state, if it is one, and that of its broadcast; `nil`: nothing would be sent.
    /// - Throws: the `Problem` with which the broadcast or the state would be refused.
    func rehearse(
        _ intake: Intake
    ) async throws -> (state: Contract.StatePreview?, broadcast: Contract.BroadcastPreview?) {
        try await bulk.transaction { connection in
            var acceptance = try await lock(
                [intake.target], comparing: intake.comparesContents, on: connection, now: intake.at.inMicroseconds)
            return try acceptance.rehearse(intake)
        }
    }

    private func lock(
        _ targets: [BroadcastTarget], comparing: Bool, on connection: PostgresConnection, now: Date
    ) async throws -> Acceptance {
        try await Self.lock(
            Set(targets), comparing: comparing, types: types, alertFreshness: alertFreshness, on: connection, now: now)
    }

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
                select b.event_key, b.channel from broadcasts b where b.scheduled and b.send_at <= \(now)
                order by b.send_at, b.accepted_at, b.id limit \(limit)
                """)
            // Events are locked before their broadcasts, as a cancellation locks them.
            let targets = try due.compactMap { try $0.target() }
            guard !targets.isEmpty else { return (0, []) }
            var acceptance = try await lock(targets, comparing: true, on: connection, now: now)
            let rows = try await connection.query(
                """
                select b.id, b.event_key, b.channel, b.accepted_at, b.send_at, \(BroadcastRows.request),
                    \(Intake.reached)
                from broadcasts b
                where b.scheduled and b.send_at <= \(now) and (
                    b.event_key = any(\(targets.compactMap(\.eventKey?.rawValue)))
                    or b.channel = any(\(targets.compactMap(\.channel))))
                order by b.send_at, b.accepted_at, b.id limit \(limit) for update skip locked
                """)
            var scheduled = try rows.compactMap(Intake.init(scheduled:))
            var refused: [(id: UUID, detail: String)] = []
            for index in scheduled.indices {
                let id = scheduled[index].id
                guard scheduled[index].request.audiences != [] else {
                    refused.append(
                        (id, "The event no longer has an audience that the broadcast's API key may send to."))
                    continue
                }
                do throws(Problem) {
                    try acceptance.promote(&scheduled[index])
                } catch {
                    refused.append((id, error.detail))
                }
            }
            try await connection.pipeline(Self.statements(acceptance))
            WebhookNews.note(broadcasts: scheduled.map(\.id), at: now)
            let payloads = scheduled.map(\.request.payload)
            try await connection.query(
                """
                update broadcasts b set scheduled = false, cancelled = r.detail is not null, stale_date = s.stale_date,
                    relevance_score = s.relevance_score::json,
                    warnings = case when r.detail is null then b.warnings
                        else b.warnings || ('not sent: ' || r.detail) end
                from unnest(\(scheduled.map(\.id)), \(payloads.map(\.staleDate)),
                    \(payloads.map { $0.relevanceScore.map(BroadcastRows.text) })) as s(id, stale_date, relevance_score)
                left join unnest(\(refused.map(\.id)), \(refused.map(\.detail))) as r(id, detail) using (id)
                where b.id = s.id
                """)
            return (scheduled.count, acceptance.topics)
        }
        wakeUps.send(topics)
        return count
    }

    /// The statements that write everything that was decided, in one round trip.
    ///
    /// PostgreSQL checks foreign keys row by row. After `planning` for many rows, PostgreSQL would plan these checks
    /// again for each row. So broadcasts and deliveries are inserted first, after `planning` for one row.
    static func statements(_ acceptance: Acceptance) -> [PostgresQuery] {
        let (broadcasts, lanes, now) = (acceptance.broadcasts, acceptance.lanes, acceptance.now)
        let (changes, events) = (acceptance.changes, acceptance.events)
        let appended = acceptance.accepted.map { place, message in
            (lane: lanes[place], message: lanes[place].messages[message])
        }
        var statements: [PostgresQuery] = []
        if !broadcasts.isEmpty || !appended.isEmpty { statements.append(planning(rows: 1)) }
        if !broadcasts.isEmpty {
            statements += [BroadcastRows.columns.insert(broadcasts), attribute(broadcasts)]
        }
        if !appended.isEmpty { statements.append(DeliveryRow.columns.insert(appended)) }
        statements += LaneRows.write(changes.lanes, loaded: changes.loaded, at: now)
        guard !events.isEmpty else { return statements }
        WebhookNews.note(events: events.filter(\.ends).map(\.key), at: now)
        let (keys, states) = (events.map(\.key), events.map(\.state))
        statements.append(
            """
            update events e set first_update_at = coalesce(e.first_update_at, r.started_at),
                ended_at = coalesce(r.ended_at, e.ended_at), state_sequence = r.sequence, state_epoch = r.epoch, quiet_at = r.quiet_at
            from unnest(\(keys), \(states.map(\.startedAt)), \(events.map { $0.ends ? now : nil }),
                \(states.map(\.progress.sequence)), \(states.map(\.progress.epoch)), \(states.map(\.progress.quietAt)))
                as r(key, started_at, ended_at, sequence, epoch, quiet_at)
            where e.key = r.key and e.key = any(\(keys))
            """)
        return statements
    }

    /// Writes an audit entry for each broadcast and app, so that a filter by app finds the entry, and an API key of one
    /// app sees no other app.
    private static func attribute(_ rows: [Intake]) -> PostgresQuery {
        AuditRows.insert(
            .broadcastAccepted,
            rows.flatMap { row in
                (row.apps.isEmpty ? [nil] : row.apps.map(Optional.some)).map { app in
                    AuditRows.Line(
                        actor: row.actor, at: row.at,
                        subject: .init(
                            bundleID: app, channel: row.target.channel, eventKey: row.target.eventKey,
                            broadcast: row.id),
                        reason: row.request.payload.event.rawValue)
                }
            })
    }
}
