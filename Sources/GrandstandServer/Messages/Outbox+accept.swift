internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension PostgresOutbox {
    /// Single broadcasts that arrive close together share a transaction. A call inside a joined transaction
    /// (`Database.isJoined`) uses that transaction instead.
    func accept(
        _ items: [BroadcastIntake], now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> [Result<Broadcast, Problem>] {
        await counted(
            try await decide(items.map(AcceptCall.Item.message), now: now, plan: plan).map { result in
                result.flatMap { broadcast in
                    broadcast.map(Result.success)
                        ?? .failure(Problem(.internalError, "The outbox answered nothing for the broadcast."))
                }
            })
    }

    /// States share transactions with broadcasts. A state that arrives while a transaction is under way is decided in
    /// the next transaction.
    func tell(_ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning) async throws -> Broadcast? {
        let results = try await decide([.state(state)], now: now, plan: plan)
        guard let broadcast = try results.first?.get() else { return nil }
        return try await counted([.success(broadcast)]).first?.get()
    }

    private func decide(
        _ items: [AcceptCall.Item], now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> [Result<Broadcast?, Problem>] {
        let call = AcceptCall(items: items, now: now, plan: plan)
        if items.count == 1, !database.isJoined { return try await acceptances.run(call) }
        return try await bulkAcceptance.accept([call])[0]
    }

    /// Adds to each accepted broadcast the number of members of its crowds. A crowd may have a million members, so the
    /// members are counted after the commit, without a lock. In a joined transaction the members are not counted,
    /// because the messages would have to wait for the count. If the count fails, the broadcast stays accepted.
    private func counted(_ results: [Result<Broadcast, Problem>]) async -> [Result<Broadcast, Problem>] {
        let ids = results.compactMap { try? $0.get() }.filter { $0.deliveries.contains { $0.counts != nil } }.map(\.id)
        guard !ids.isEmpty, !database.isJoined, let deliveries = try? await deliveries(of: ids, within: .all) else {
            return results
        }
        return results.map { result in
            result.map { broadcast in
                var broadcast = broadcast
                for index in broadcast.deliveries.indices where broadcast.deliveries[index].counts != nil {
                    let request = broadcast.deliveries[index].apnsRequestID
                    let read = deliveries[broadcast.id]?.first { $0.apnsRequestID == request }
                    if let read { broadcast.deliveries[index].counts = read.counts }
                }
                return broadcast
            }
        }
    }

    /// Decides a broadcast as an acceptance does, under the same locks, and writes nothing.
    func rehearse(
        _ intake: BroadcastIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> BroadcastRehearsal {
        try await bulk.transaction { connection in
            var acceptance = try await Self.lock(
                [intake.target], types: acceptance.types, comparing: intake.lacksContent, on: connection,
                now: now.inMicroseconds)
            return try acceptance.rehearse(intake, at: now, plan: plan)
        }
    }

    func rehearse(_ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning) async throws -> StateRehearsal {
        try await bulk.transaction { connection in
            var acceptance = try await Self.lock(
                [state.target], types: acceptance.types, comparing: true, on: connection, now: now.inMicroseconds)
            return try acceptance.rehearse(state, at: now, plan: plan)
        }
    }

    func nextScheduled() async throws -> Date? {
        try await bulk.query("select min(send_at) as at from broadcasts where scheduled").first?
            .decode(Date?.self, "at")
    }

    func promote(now: Date, limit: Int, plan: @escaping DeliveryPlanning) async throws -> Int {
        let (count, topics) = try await database.transaction { connection -> (Int, Set<WakeTopic>) in
            let due = try await connection.query(
                """
                select b.event_key, b.channel from broadcasts b where b.scheduled and b.send_at <= \(now)
                order by b.send_at, b.accepted_at, b.id limit \(limit)
                """)
            guard !due.isEmpty else { return (0, []) }
            // Events are locked before their broadcasts, as a cancellation locks them.
            let targets = Set(try due.compactMap(ScheduledBroadcast.target))
            var acceptance = try await Self.lock(
                targets, types: self.acceptance.types, comparing: true, on: connection, now: now)
            let rows = try await connection.query(
                """
                select b.id, b.event_key, b.channel, b.accepted_at, b.send_at, \(BroadcastRows.request),
                    \(ScheduledBroadcast.reached)
                from broadcasts b
                where b.scheduled and b.send_at <= \(now) and (
                    b.event_key = any(\(targets.compactMap(\.eventKey?.rawValue)))
                    or b.channel = any(\(targets.compactMap(\.channel))))
                order by b.send_at, b.accepted_at, b.id limit \(limit) for update skip locked
                """)
            let scheduled = try rows.compactMap(ScheduledBroadcast.init)
            var refused: [(id: UUID, detail: String)] = []
            for broadcast in scheduled {
                guard broadcast.intake.request.audiences != [] else {
                    refused.append(
                        (broadcast.id, "The event no longer has an audience that the broadcast's API key may send to."))
                    continue
                }
                do throws(Problem) {
                    try acceptance.promote(broadcast, plan: plan)
                } catch {
                    refused.append((broadcast.id, error.detail))
                }
            }
            try await connection.pipeline(Self.statements(acceptance))
            let payloads = scheduled.map { acceptance.promoted[$0.id] ?? $0.intake.request.payload }
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
        acceptance.wakeUps.send(topics)
        return count
    }

    /// The statements that write everything that was decided, in one round trip.
    ///
    /// PostgreSQL checks foreign keys row by row. After `planning` for many rows, PostgreSQL would plan these checks
    /// again for each row. So broadcasts and deliveries are inserted first, after `planning` for one row.
    static func statements(_ acceptance: Acceptance) -> [PostgresQuery] {
        let appended = acceptance.appended
        let progress = acceptance.progress.isEmpty ? [] : [noteProgress(acceptance.progress)]
        let changes = acceptance.changes
        guard !acceptance.broadcasts.isEmpty || !appended.isEmpty || !changes.lanes.isEmpty else { return progress }
        var statements = [planning(rows: 1), BroadcastRows.columns.insert(acceptance.broadcasts)]
        if !appended.isEmpty { statements.append(LaneRows.insert(appended)) }
        statements += LaneRows.write(changes.lanes, loaded: changes.loaded, at: acceptance.now)
        if !acceptance.startedEvents.isEmpty || !acceptance.endedEvents.isEmpty {
            statements.append(updateEvents(acceptance))
        }
        if !acceptance.broadcasts.isEmpty { statements.append(attribute(acceptance.broadcasts)) }
        return statements + progress
    }

    /// Writes to each event the last sequence and epoch of its states, and when its newest message with the outcome `quiet` is or
    /// was sent.
    private static func noteProgress(_ progress: [String: StateDecision.Progress]) -> PostgresQuery {
        let keys = progress.keys.sorted()
        let progress = keys.map { progress[$0] ?? .init() }
        return """
            update events e set state_sequence = r.sequence, state_epoch = r.epoch, quiet_at = r.quiet_at
            from unnest(\(keys), \(progress.map(\.sequence)), \(progress.map(\.epoch)), \(progress.map(\.quietAt)))
                as r(key, sequence, epoch, quiet_at)
            where e.key = r.key and e.key = any(\(keys))
            """
    }

    /// Writes an audit entry for each broadcast and app, so that a filter by app finds the entry, and an API key of one
    /// app sees no other app.
    private static func attribute(_ rows: [Acceptance.BroadcastRow]) -> PostgresQuery {
        AuditRows.insert(
            .broadcastAccepted,
            rows.flatMap { row in
                (row.apps.isEmpty ? [nil] : row.apps.map(Optional.some)).map { app in
                    AuditRows.Line(
                        actor: row.intake.actor, at: row.acceptedAt,
                        subject: .init(
                            bundleID: app, channel: row.intake.target.channel, eventKey: row.intake.target.eventKey,
                            broadcast: row.id),
                        reason: row.intake.request.payload.event.rawValue)
                }
            })
    }

    /// Writes the times of the first update and of the end of events, only to rows that lack them. A match has many
    /// updates, but only the first update writes the event's row.
    private static func updateEvents(_ acceptance: Acceptance) -> PostgresQuery {
        let started = acceptance.startedEvents.sorted { $0.key < $1.key }
        return """
            update events e set
                first_update_at = coalesce(e.first_update_at, (
                    select at from unnest(\(started.map(\.key)), \(started.map(\.value))) as s(key, at)
                    where s.key = e.key)),
                ended_at = case when e.key = any(\(acceptance.endedEvents.sorted()))
                    then coalesce(e.ended_at, \(acceptance.now)) else e.ended_at end
            where (e.key = any(\(started.map(\.key))) and e.first_update_at is null)
                or (e.key = any(\(acceptance.endedEvents.sorted())) and e.ended_at is null)
            """
    }
}
