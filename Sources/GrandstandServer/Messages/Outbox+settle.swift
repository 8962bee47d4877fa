internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension Outbox {
    /// Records what became of deliveries. Lanes that another transaction has locked are skipped, so no app's verdicts wait
    /// for a lock on another app's lane.
    ///
    /// The commit of verdicts does not wait for the disk. The commit of a claim does wait, and writes all earlier commits
    /// to the disk, too. So a crash of PostgreSQL can lose only settlements that are newer than the newest claim. A
    /// delivery whose settlement is lost is `sending` again. It is sent again with the same timestamp and request ID; the
    /// repeated message changes nothing on a device.
    ///
    /// - Returns: the lanes that another transaction has locked. Nothing is recorded for them.
    @discardableResult
    func record(_ deliveries: [ClaimedDelivery]) async throws -> Set<Int> {
        let now = (deliveries.map(\.settledAt).max() ?? .distantPast).inMicroseconds
        let byLane = Dictionary(grouping: deliveries, by: \.lane)
        let unsent = deliveries.filter { $0.verdict == nil }
        return try await dispatch.transaction {
            connection -> (loaded: [Lane], lanes: [Lane], others: Set<Int>, doubts: [UUID: String]) in
            let (free, others) = try await LaneRows.loadFree(
                Array(byLane.keys),
                after: [
                    "select set_config('synchronous_commit', \(unsent.isEmpty ? "off" : "on"), true)",
                    Self.planning(rows: byLane.count),
                ], on: connection)
            let loaded = free.filter { lane in
                byLane[lane.id]?.contains { $0.replica == lane[.channel].lease?.replica } ?? false
            }
            // By channel: the reason that APNs gave when it did not know the channel. Such a channel is in doubt.
            var (lanes, doubts) = (loaded, [UUID: String]())
            for index in lanes.indices {
                for delivery in byLane[lanes[index].id] ?? [] {
                    guard let doubt = lanes[index].settle(delivery, at: now), let channel = lanes[index].channel else {
                        continue
                    }
                    doubts[channel.id] = doubt
                }
            }
            return (loaded, lanes, others, doubts)
        } closing: { settled in
            var topics = Set(unsent.map { WakeTopic.lanes($0.address.environment) })
            // If a lane is fenced, its channel may retire once no message to the channel is under way. So the channels'
            // loop must be woken.
            if !settled.doubts.isEmpty || settled.lanes.contains(where: { $0.fencedAt != nil }) {
                topics.insert(.channels)
            }
            return LaneRows.write(settled.lanes, loaded: settled.loaded, at: now)
                + (settled.doubts.isEmpty ? [] : [Self.doubt(settled.doubts, now: now)])
                + (topics.isEmpty ? [] : [WakeUps.wake(topics)])
        } _: { settled, _ in
            wakeUps.wake(Set(settled.lanes.filter { $0.due(at: now) != nil }.flatMap(\.topics)))
            return settled.others
        }
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
