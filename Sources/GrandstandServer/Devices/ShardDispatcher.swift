internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Postgres
internal import Synchronization

/// Sends pushes to devices of one environment in shards: starts of events to followers, and updates to crowds. A run of
/// starts has two shards in progress at a time, the lane of a crowd has one. A shard is settled after its last answer.
struct ShardDispatcher<Store: ShardStore> {
    typealias Shard = Store.Shard

    let environment: APNsEnvironment
    let store: Store
    let pushes: DevicePushes
    let signals: WakeUps
    /// The signal of new work.
    let topic: WakeTopic
    /// The number of pushes in a shard. After a crash, at most this many pushes have an unknown result or are repeated.
    var shardSize = 2_000
    /// The maximum number of shards in progress at a time.
    var places = 4
    /// Seconds until another replica takes the shards of a replica that died.
    let lease: TimeInterval
    /// How long a stop waits for shards in progress. Pushes that were not sent before the end of the drain are sent
    /// later.
    let drain: Drain
    /// The longest sleep. The poll after this sleep finds work whose signal was lost.
    var pollInterval = Duration.seconds(1)
    let now: @Sendable () -> Date
    var mayClaim: @Sendable () -> Bool = { true }
    /// Called with the verdicts after they are recorded.
    var onSettled: @Sendable ([TokenVerdict]) -> Void = { _ in }
    let logger: Logger
    private let replica = UUID()
    private let outage = Outage()

    /// When the last claim failed.
    private final class Outage: Sendable { let last = Mutex(Date.distantPast) }

    func run() async {
        var logger = logger
        logger[metadataKey: "environment"] = "\(environment.rawValue)"
        // All rings during the rest cause one round.
        let loop = WorkLoop<Shard>(
            .init(
                places: places, rest: .milliseconds(5), pollInterval: pollInterval, lease: lease, drain: drain),
            failure: "pushes to devices could not be claimed", logger: logger, now: now,
            mayClaim: mayClaim, claim: { try await claim($0, holding: $1.unrecorded) }, perform: send,
            extend: { shards in
                try await store.extendLeases(
                    of: shards.map(\.owner), replica: replica, until: now().addingTimeInterval(lease))
            })
        await loop.run(wakenBy: signals.wakes(topic))
    }

    private func claim(_ free: Int, holding: [Shard]) async throws -> Round<Shard> {
        let now = now()
        let (size, again) = pushes.room(for: shardSize, at: now)
        if let again { return .idle(until: again) }
        let avoiding = pushes.heldBack(at: now)
        // While the database was away, no replica could extend a lease or record an answer. So after an outage, every
        // replica has two leases' time for this, before its shards are taken over.
        let isRecovering = now < outage.last.withLock { $0 + 2 * lease }
        do {
            let shards = try await store.claim(
                ShardClaim(
                    environment: environment, replica: replica, limit: free, shardSize: size,
                    throttledSizes: pushes.rates.perSecond.mapValues { max(1, Int($0)) }, at: now,
                    leasedUntil: now.addingTimeInterval(lease), leasesEndedBefore: isRecovering ? .distantPast : now,
                    holding: holding.map(\.owner).sorted(), avoiding: avoiding))
            return try await .claimed(shards) {
                // Work that is due, but cannot be claimed yet, is looked for four times a second.
                let earliest = isRecovering || !avoiding.isEmpty ? now.addingTimeInterval(0.25) : .distantPast
                return try await store.nextDue(in: environment).map { max($0, earliest) }
            }
        } catch {
            outage.last.withLock { $0 = self.now() }
            throw error
        }
    }

    private func send(_ shard: Shard) async -> WorkLoop<Shard>.Settling {
        let outcomes = await pushes.make(shard)
        tell(outcomes, of: shard)
        return {
            do {
                try await store.settle(shard, outcomes, replica: replica, now: now())
            } catch let error as PostgresError {
                // A lost answer could repeat a start. So also what the database refuses is tried again.
                throw Problem(.storeUnavailable, "\(error)")
            }
            onSettled(outcomes.compactMap(\.verdict))
        }
    }

    /// Logs a warning when an app's pushes begin to fail, and a notice when they are accepted again. Tokens are never
    /// logged.
    private func tell(_ outcomes: [PushOutcome<Shard.Member>], of shard: Shard) {
        let (app, now) = (shard.address.bundleID, now())
        var reasons: [String: Int] = [:]
        var (begins, ends) = (false, false)
        for one in outcomes {
            guard let verdict = one.verdict else { continue }
            switch verdict {
            case .accepted: ends = pushes.accounts.accepted(app, sentAt: one.sentAt, at: now) || ends
            // An app was removed from a phone: nothing is wrong with the pushes.
            case .gone: break
            case .retry, .unknown, .rejected, .expired, .suspect:
                begins = pushes.accounts.failed(app, sentAt: one.sentAt, at: now) || begins
            }
            guard let reason = verdict.reason else { continue }
            if case .retry = verdict, APNsReason(rawValue: reason).concernsProviderToken { continue }
            reasons[reason, default: 0] += 1
        }
        let place: Logger.Metadata = ["environment": "\(environment.rawValue)", "app": "\(app)"]
        if ends { logger.notice("APNs accepts pushes to devices of the app again", metadata: place) }
        guard !reasons.isEmpty else { return }
        let list = reasons.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        logger.log(
            level: begins ? .warning : .debug, "APNs did not accept all pushes to devices",
            metadata: place.merging(["pushes": "\(outcomes.count)", "reasons": "\(list)"]) { $1 })
    }
}
