internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging

/// Sends pushes to devices of one environment in shards: starts of events to followers, and updates to crowds. A run of
/// starts, or the lane of a crowd, has one shard in progress at a time. A shard is settled after its last answer.
struct ShardDispatcher<Store: ShardStore> {
    private let replica = UUID()
    private let environment: APNsEnvironment
    private let store: Store
    private let pushes: DevicePushes
    private let signals: WakeUps
    private let topic: WakeTopic
    private let settings: ShardSettings
    private let now: @Sendable () -> Date
    private let mayClaim: @Sendable () -> Bool
    private let onSettled: @Sendable ([TokenVerdict]) -> Void
    private let logger: Logger
    private let heldShards = HeldShards()
    /// Seconds between two claims while due work cannot be claimed.
    private static var restraint: TimeInterval { 0.25 }

    /// - Parameters:
    ///   - mayClaim: whether this process may claim work now. It is called before every claim.
    ///   - onSettled: called with the verdicts after they are recorded.
    init(
        environment: APNsEnvironment, store: Store, pushes: DevicePushes, signals: WakeUps,
        wakenBy topic: WakeTopic, settings: ShardSettings, now: @escaping @Sendable () -> Date,
        mayClaim: @escaping @Sendable () -> Bool = { true },
        onSettled: @escaping @Sendable ([TokenVerdict]) -> Void = { _ in }, logger: Logger
    ) {
        self.onSettled = onSettled
        self.environment = environment
        self.store = store
        self.pushes = pushes
        self.signals = signals
        self.topic = topic
        self.settings = settings
        self.now = now
        self.mayClaim = mayClaim
        var logger = logger
        logger[metadataKey: "environment"] = "\(environment.rawValue)"
        self.logger = logger
    }

    func run() async {
        let loop = WorkLoop<Store.Shard>(
            .init(
                places: settings.places, rest: Self.rest, pollInterval: settings.pollInterval, drain: settings.drain),
            failure: "pushes to devices could not be claimed", logger: logger, now: now,
            mayClaim: mayClaim,
            claim: { try await self.claim($0) }, perform: { await self.perform($0) })
        await loop.run(wakenBy: signals.wakes(topic))
    }

    /// All rings during the rest cause one round.
    private static var rest: Duration { .milliseconds(5) }

    private func claim(_ free: Int) async throws -> Round<Store.Shard> {
        // While answers wait to be recorded, nothing is claimed. When they are recorded, the loop is woken.
        guard !heldShards.hasUnrecorded else { return .idle() }
        let now = now()
        let (size, again) = pushes.room(for: settings.shardSize, at: now)
        if let again { return .idle(until: again) }
        let avoiding = pushes.heldBack(at: now)
        let leasesEndedBefore = heldShards.leasesEndedBefore(at: now)
        do {
            let shards = try await store.claim(
                ShardClaim(
                    environment: environment, replica: replica, limit: free, shardSize: size,
                    throttledSizes: pushes.rates.perSecond.mapValues { max(1, Int($0)) }, at: now,
                    leasedUntil: now.addingTimeInterval(settings.lease), leasesEndedBefore: leasesEndedBefore,
                    holding: heldShards.holding, avoiding: avoiding))
            heldShards.hold(shards.map(\.owner))
            heldShards.answered(at: now, lease: settings.lease)
            return try await .claimed(shards) {
                let due = try await store.nextDue(in: environment)
                return leasesEndedBefore < now || !avoiding.isEmpty
                    ? due.map { max($0, now.addingTimeInterval(Self.restraint)) } : due
            }
        } catch {
            heldShards.failed()
            throw error
        }
    }

    private func perform(_ shard: Store.Shard) async {
        let keeper = Task { await keep(shard.owner) }
        defer {
            keeper.cancel()
            heldShards.release(shard.owner)
        }
        let made = await pushes.make(shard)
        tell(made, of: shard)
        // The results of pushes that were sent must be recorded. So a separate task records them, which a stop does not
        // cancel. If the database is away during a stop, the task waits for the database only until the drain and its
        // margin have ended.
        let absence = RetryLimit(nil)
        await withTaskCancellationHandler {
            await Task { await settle(shard, made, absence) }.value
        } onCancel: {
            absence.shorten(to: settings.drain.begin() + Drain.margin)
        }
    }

    /// Records a shard's answers. If the answers are lost, the results count as unknown, or the pushes are repeated. So
    /// this method waits for a database that is away, without a limit. While the database is away, no other replica can
    /// take the lease, and when it is back, the lease has enough time left (`LeaseClock`). If the database refuses the
    /// answers, for example because its disk is full, they are tried again for a while.
    private func settle(
        _ shard: Store.Shard, _ outcomes: [PushOutcome<Store.Shard.Member>], _ absence: RetryLimit
    ) async {
        let refusals = RetryLimit(settings.refusalRetryLimit)
        var isUnrecorded = false
        defer { if isUnrecorded { heldShards.change(unrecorded: -1) } }
        var pause = Duration.milliseconds(50)
        while true {
            do {
                try await store.settle(shard, outcomes, replica: replica, now: now())
                return onSettled(outcomes.compactMap(\.verdict))
            } catch {
                logger.failed("answers to pushes could not be recorded; trying again", error)
                if !isUnrecorded {
                    isUnrecorded = true
                    heldShards.change(unrecorded: 1)
                }
                let isAway = (error as? Problem)?.kind == .storeUnavailable
                guard !absence.isOver, isAway || !refusals.isOver else {
                    logger.error(
                        "answers to pushes are lost",
                        metadata: ["app": "\(shard.address.bundleID)", "pushes": "\(outcomes.count)"])
                    return
                }
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(1))
            }
        }
    }

    private func keep(_ owner: Int) async {
        while (try? await Task.sleep(for: .seconds(settings.lease / 3))) != nil {
            do {
                try await store.extendLeases(
                    of: [owner], replica: replica, until: now().addingTimeInterval(settings.lease))
            } catch {
                logger.failed("the lease of pushes under way could not be extended", error, at: .warning)
            }
        }
    }

    /// Logs a warning when an app's pushes begin to fail, and a notice when they are accepted again. Tokens are never
    /// logged.
    private func tell(_ made: [PushOutcome<Store.Shard.Member>], of shard: Store.Shard) {
        let (app, now) = (shard.address.bundleID, now())
        var reasons: [String: Int] = [:]
        var (begins, ends) = (false, false)
        for one in made {
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
        if ends { logger.notice("APNs accepts pushes to devices of the app again", metadata: ["app": "\(app)"]) }
        guard !reasons.isEmpty else { return }
        logger.log(
            level: begins ? .warning : .debug, "APNs did not accept all pushes to devices",
            metadata: [
                "app": "\(app)", "pushes": "\(made.count)",
                "reasons":
                    "\(reasons.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))",
            ])
    }
}
