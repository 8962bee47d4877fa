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
        try await submit(items).map { result in
            result.flatMap { $0.map(Result.success) ?? .failure(.noOutboxAnswer) }
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
    func putState(_ state: Intake) async throws -> Contract.Broadcast? { try await submit([state])[0].get() }

    private func submit(_ items: [Intake]) async throws -> [Result<Contract.Broadcast?, Problem>] {
        guard !items.isEmpty else { return [] }
        guard items.count == 1, !database.isJoined, let acceptances else {
            // In a joined transaction `bulk` uses its connection (`Database.identity`).
            return await withCounts(try await commit(items, on: bulk))
        }
        return await withCounts([try await acceptances.run(items[0])])
    }

    /// Makes items durable in one transaction, in order, and then wakes the loops that have work.
    ///
    /// - Returns: for each item its broadcast; `nil`: the item was a state that changed nothing.
    func commit(_ items: [Intake], on database: Database) async throws -> [Result<Contract.Broadcast?, Problem>] {
        let now = (items.map(\.at).max() ?? .distantPast).asStored
        let isJoined = database.isJoined
        let (results, topics) = try await database.transaction { connection in
            var acceptance = try await Self.lockLoad(
                items.map(\.target), comparing: items.contains(where: \.needsContents), for: self,
                on: connection, now: now)
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
    private func withCounts(
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
    /// - Returns: the broadcast and its preview; `nil`: nothing would be sent.
    /// - Throws: the `Problem` with which the broadcast or the state would be refused.
    func rehearse(
        _ intake: Intake
    ) async throws -> (accepted: Contract.Broadcast, preview: Contract.BroadcastPreview)? {
        try await bulk.transaction { connection in
            var acceptance = try await Self.lockLoad(
                [intake.target], comparing: intake.needsContents, for: self, on: connection,
                now: intake.at.asStored)
            return try acceptance.rehearse(intake)
        }
    }

    /// The statements that write everything that was decided, in one round trip.
    ///
    /// PostgreSQL checks foreign keys row by row. After `planning` for many rows, PostgreSQL would plan these checks
    /// again for each row. So broadcasts and deliveries are inserted first, after `planning` for one row.
    static func statements(_ acceptance: Acceptance) -> [PostgresQuery] {
        let (broadcasts, lanes, now) = (acceptance.broadcasts, acceptance.lanes, acceptance.now)
        let (changes, events) = (acceptance.changes, acceptance.changedEvents)
        let appended = acceptance.accepted.map { index, message in
            (lane: lanes[index], message: lanes[index].messages[message])
        }
        var statements: [PostgresQuery] = []
        if !broadcasts.isEmpty || !appended.isEmpty { statements.append(planning(rows: 1)) }
        if !broadcasts.isEmpty {
            statements += [BroadcastRows.columns.insert(broadcasts), audit(broadcasts)]
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
                \(states.map(\.stateProgress.sequence)), \(states.map(\.stateProgress.epoch)), \(states.map(\.stateProgress.quietAt)))
                as r(key, started_at, ended_at, sequence, epoch, quiet_at)
            where e.key = r.key and e.key = any(\(keys))
            """)
        return statements
    }

    /// Writes an audit entry for each broadcast and app, so that a filter by app finds the entry, and an API key of one
    /// app sees no other app.
    private static func audit(_ rows: [Intake]) -> PostgresQuery {
        AuditRows.insert(
            .broadcastAccepted,
            rows.flatMap { row -> [AuditRows.Line] in
                let apps: [BundleID?] = Set((row.plan?.items ?? []).map(\.audience.bundleID)).sorted()
                return (apps.isEmpty ? [nil] : apps).map { app in
                    let subject = AuditSubject(
                        bundleID: app, channel: row.target.channel, eventKey: row.target.eventKey, broadcast: row.id)
                    return (row.actor, row.at, subject, row.request.event.rawValue)
                }
            })
    }
}

/// Locks the rows on which `Acceptance` decides, until the commit: first events, then lanes, then channels. The rows of
/// each table are always locked in the same order.
extension Outbox {
    /// - Parameters:
    ///   - comparing: whether the newest contents are read, too, because something is compared with them or takes them.
    ///   - outbox: reads content types; `nil`: contents are not checked.
    static func lockLoad(
        _ targets: [BroadcastTarget], comparing: Bool = false, for outbox: Outbox? = nil,
        on connection: PostgresConnection, now: Date
    ) async throws -> Acceptance {
        let keys = Set(targets.compactMap(\.eventKey?.rawValue)).sorted()
        let channels = Set(targets.compactMap(\.channel)).sorted { $0.uuidString < $1.uuidString }
        // One statement locks the lanes of all targets, so that all lanes are locked in one order. For an empty array
        // PostgreSQL would read a whole index.
        var parts: [PostgresQuery] = []
        if !keys.isEmpty { parts.append("select lane from audiences where event_key = any(\(keys))") }
        if !channels.isEmpty { parts.append("select lane from audiences where channel = any(\(channels))") }
        let lanes: PostgresQuery = "(array(\(parts.dropFirst().reduce(parts[0]) { "\($0) union all \($1)" })))"
        var statements = [planning(rows: keys.count + channels.count)]
        func add(_ statement: PostgresQuery) -> Int {
            statements.append(statement)
            return statements.count - 1
        }
        let events = keys.isEmpty ? nil : add(lockEvents(keys))
        var ofChannels: Int?
        if !channels.isEmpty {
            statements.append(LaneRows.lock(lanes))
            ofChannels = add(lockChannels(channels))
            statements.append(insertLanes(channels))
        }
        statements.append(LaneRows.lock(lanes))
        let (types, newest) = (add(ContentRows.types(of: lanes)), comparing ? add(ContentRows.newest(lanes)) : nil)
        // A claim reads the newest content under the lane's lock. So a token that is not seen here gets what is
        // accepted here as its newest content. A lane has no place if its channel cannot be created, because the app has
        // no channel left in its limit or at Apple.
        let more: PostgresQuery = """
            , l.event_key, l.position,
            (select true from activities where event_key = l.event_key order by event_key, id limit 1) is not null
                and \(CrowdRows.hasTokens("l.lane")) as has_tokens,
            \(AudienceColumns.wantsChannel("l")) and l.channel is null and l.fenced_at is null and exists (
                select from (select * from channels where event_key = l.event_key offset 0) f
                where \(AudienceColumns.serves("f", "l")) and f.state = 'failed'
                    and f.reason in \(ChannelStore.whyNoRoom)) as lacks_place
            """
        let results = try await connection.pipeline(statements + LaneRows.selectLocked(lanes, more))
        let loaded = try LaneRows.lanes(results)
        func rows(_ statement: Int?) -> [PostgresRow] { statement.map { Array(results[$0]) } ?? [] }
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        for row in rows(events) {
            var state = Acceptance.TargetState(isOver: try row.decode("is_over"))
            state.startedAt = try row.decode("first_update_at")
            state.defaults = try row.json("defaults") ?? .init()
            (state.startsAt, state.endsAt) = (try row.decode("starts_at"), try row.decode("ends_at"))
            state.stateProgress = StateDecision.Progress(
                sequence: try row.decode("state_sequence"), epoch: try row.decode("state_epoch"),
                quietAt: try row.decode("quiet_at"))
            states[.event(try row.word("key"))] = state
        }
        var (populated, withoutPlace): (Set<Int>, Set<Int>) = ([], [])
        let laneRows = results[results.count - 2]
        let positions: [Int] = try laneRows.map { try $0.decode("position") }
        for index in loaded.indices.sorted(by: { (positions[$0], $0) < (positions[$1], $1) }) {
            let row = laneRows[index]
            if try row.decode(Bool.self, "has_tokens") { populated.insert(loaded[index].id) }
            if try row.decode(Bool.self, "lacks_place") { withoutPlace.insert(loaded[index].id) }
            if let key: EventKey = try row.optionalWord("event_key") { states[.event(key)]?.laneIndices.append(index) }
        }
        for row in rows(ofChannels) where try row.decode(Bool.self, "takes_broadcasts") {
            let id: UUID = try row.decode("id")
            let laneIndices = loaded.indices.filter { loaded[$0].channel?.id == id }
            if !laneIndices.isEmpty {
                states[.channel(id)] = Acceptance.TargetState(isOver: false, laneIndices: laneIndices)
            }
        }
        return Acceptance(
            of: states, loaded, tokenLanes: populated,
            types: try await outbox?.typeCache.types(rows(types), on: connection) ?? .init(),
            basis: try ContentRows.readNewest(rows(newest)), lanesWithoutPlace: withoutPlace,
            alertFreshness: outbox?.alertFreshness ?? DeliveryPlan.alertFreshness, now: now)
    }

    private static func lockEvents(_ keys: [String]) -> PostgresQuery {
        """
        select key, ended_at is not null or cancelled_at is not null as is_over, first_update_at, defaults, starts_at,
            ends_at, state_sequence, state_epoch, quiet_at
        from events
        where key = any(\(keys)) order by key for no key update
        """
    }

    private static func lockChannels(_ ids: [UUID]) -> PostgresQuery {
        """
        select id, event_key is null and state = 'active' as takes_broadcasts from channels
        where id = any(\(ids)) order by id for no key update
        """
    }

    /// Inserts the missing lanes of channels without an event. Such a channel gets its lane with its first broadcast.
    private static func insertLanes(_ ids: [UUID]) -> PostgresQuery {
        """
        insert into audiences (bundle_id, environment, storage_policy, channel)
        select c.bundle_id, c.environment, c.storage_policy, c.id from channels c
        where c.id = any(\(ids)) and c.event_key is null and c.state = 'active'
            and not exists (select from audiences u where u.channel = c.id)
        """
    }
}
