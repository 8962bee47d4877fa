internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// One verdict to record, or the news that a message was not sent.
struct SettleCall: Sendable {
    let delivery: ClaimedDelivery
    /// `nil`: the message was not sent.
    let settlement: Settlement?
    let replica: UUID
    let now: Date
}

/// The transactions that end the leases of lanes.
struct Settling: Sendable {
    let dispatch: Database
    let wakeUps: WakeUps

    /// - Returns: for each call whether it is recorded.
    func record(_ calls: [SettleCall]) async throws -> [Bool] {
        var locked: [UUID: Set<Int>] = [:]
        for (replica, calls) in Dictionary(grouping: calls, by: \.replica) {
            guard let now = calls.map(\.now).max() else { continue }
            var left = try await settle(calls.compactMap(\.settlement), replica: replica, now: now)
            let unsent = calls.filter { $0.settlement == nil }.map(\.delivery)
            if !unsent.isEmpty { left.formUnion(try await release(unsent, replica: replica, now: now)) }
            locked[replica] = left
        }
        return calls.map { !(locked[$0.replica]?.contains($0.delivery.lane) ?? false) }
    }

    /// Records verdicts. The commit of a settlement does not wait for the disk. The commit of a claim does wait, and
    /// writes all earlier commits to the disk, too. So a crash of PostgreSQL can lose only settlements that are newer
    /// than the newest claim. A delivery whose settlement is lost is `sending` again. It is sent again with the same
    /// timestamp and request ID; the repeated message changes nothing on a device.
    ///
    /// - Returns: the lanes that another transaction has locked.
    func settle(_ settlements: [Settlement], replica: UUID, now: Date) async throws -> Set<Int> {
        guard !settlements.isEmpty else { return [] }
        let now = now.inMicroseconds
        let verdicts = Dictionary(grouping: settlements, by: \.lane)
        return try await change(Array(verdicts.keys), replica: replica, now: now, isFlushed: false) { lane in
            var doubt: String?
            for verdict in verdicts[lane.id] ?? [] {
                if case .channelDoubted(let reason) = lane.settle(verdict, by: replica, at: now) { doubt = reason }
            }
            return doubt
        }
    }

    /// Ends the leases of lanes whose messages were not sent; the attempts do not count.
    ///
    /// - Returns: the lanes that another transaction has locked.
    func release(_ deliveries: [ClaimedDelivery], replica: UUID, now: Date) async throws -> Set<Int> {
        let released = Dictionary(grouping: deliveries, by: \.lane)
        let environments = Set(deliveries.map(\.address.environment))
        return try await change(
            Array(released.keys), replica: replica, now: now, isFlushed: true, waking: environments.map(WakeTopic.lanes)
        ) { lane in
            for delivery in released[lane.id] ?? [] { _ = lane.release(delivery.id, by: replica, at: now) }
            return nil
        }
    }

    /// Changes those of the lanes that the replica has leased and that no other transaction has locked. Locked lanes
    /// are skipped, so no app's verdicts wait for a lock on another app's lane.
    ///
    /// - Parameter verb: changes a lane, and returns APNs' reason if APNs said that it does not know the lane's
    ///   channel.
    /// - Returns: the lanes that another transaction has locked.
    private func change(
        _ ids: [Int], replica: UUID, now: Date, isFlushed: Bool, waking topics: [WakeTopic] = [],
        _ verb: @Sendable (inout Lane) -> String?
    ) async throws -> Set<Int> {
        try await dispatch.transaction { connection -> Settled in
            let rows = try await connection.pipeline(
                [
                    "select set_config('synchronous_commit', \(isFlushed ? "on" : "off"), true)",
                    Outbox.planning(rows: ids.count),
                ] + LaneRows.loadFree(ids))
            let (free, others) = try LaneRows.free(rows)
            let loaded = free.filter { $0.lease?.replica == replica }
            var settled = Settled(loaded: loaded, lanes: loaded, others: others)
            for index in settled.lanes.indices {
                if let reason = verb(&settled.lanes[index]), let channel = settled.lanes[index].channel {
                    settled.doubts[channel.id] = reason
                }
            }
            return settled
        } closing: { settled in
            var topics = topics
            // If a lane is fenced, its channel may retire once no message to the channel is under way. So the channels'
            // loop must be woken.
            if !settled.doubts.isEmpty || settled.lanes.contains(where: { $0.fencedAt != nil }) {
                topics.append(.channels)
            }
            return LaneRows.write(settled.lanes, loaded: settled.loaded, at: now)
                + (settled.doubts.isEmpty ? [] : [Self.doubt(settled.doubts, now: now)])
                + (topics.isEmpty ? [] : [WakeUps.wake(Set(topics))])
        } _: { settled, _ in
            wakeUps.wake(Set(settled.lanes.filter { $0.due(at: now) != nil }.map(\.topic)))
            return settled.others
        }
    }

    private struct Settled {
        let loaded: [Lane]
        var lanes: [Lane]
        /// The lanes that another transaction has locked.
        let others: Set<Int>
        /// By channel: the reason that APNs gave when it did not know the channel. Such a channel is in doubt.
        var doubts: [UUID: String] = [:]
    }

    /// After an unfounded doubt, a channel is not checked again for this many seconds.
    private static let doubtRest: TimeInterval = 30

    /// Records that APNs refused messages because of these channels. A reconciliation then checks the channels, because
    /// one refusal proves nothing. A channel that another transaction has locked is left to the next refusal.
    private static func doubt(_ reasons: [UUID: String], now: Date) -> PostgresQuery {
        let ids = Array(reasons.keys)
        return """
            update channels c set doubted_at = \(now), reason = r.reason,
                examine_at = greatest(\(now), c.confirmed_at + make_interval(secs => \(doubtRest)))
            from unnest(\(ids), \(ids.map { reasons[$0] })) as r(id, reason)
            where c.id = r.id
                and c.id = any(array(
                    select id from channels where id = any(\(ids)) order by id for no key update skip locked))
                and c.state in \(Channel.State.sql(.takesMessages)) and c.doubted_at is null
            """
    }
}
