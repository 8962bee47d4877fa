package import APNsWire
package import FoundationEssentials
package import Grandstand
package import Logging
internal import ServiceLifecycle

/// Sends the starts of events in one environment, shard by shard: each is noted in the database before its first push
/// leaves, and settled after its last answer. One shard of a run is under way at a time.
package struct StartDispatcher: Service {
    package struct Settings: Sendable {
        /// Pushes of a shard: what a crash can leave without a known outcome.
        package var shardSize = 2_000
        /// Runs worked on at a time.
        package var places = 4
        /// Seconds until a run claimed by a replica that died is taken by another. Extended while a shard is under way.
        package var lease: TimeInterval
        /// How long a stop waits for a shard under way; what was not sent by then goes later.
        package var drain: Duration
        /// The longest sleep: finds what no signal told of.
        package var pollInterval: Duration = .seconds(1)

        package init(lease: TimeInterval, drain: Duration) {
            self.lease = lease
            self.drain = drain
        }
    }

    private let replica = UUID()
    private let environment: APNsEnvironment
    private let store: any StartStore
    private let pushes: DevicePushes
    private let signals: any WakeSignals
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let mayClaim: @Sendable () -> Bool
    private let logger: Logger

    /// - Parameter mayClaim: whether this process may take work on now; asked before every claim.
    package init(
        environment: APNsEnvironment, store: any StartStore, pushes: DevicePushes, signals: any WakeSignals,
        settings: Settings, now: @escaping @Sendable () -> Date, mayClaim: @escaping @Sendable () -> Bool = { true },
        logger: Logger
    ) {
        self.environment = environment
        self.store = store
        self.pushes = pushes
        self.signals = signals
        self.settings = settings
        self.now = now
        self.mayClaim = mayClaim
        var logger = logger
        logger[metadataKey: "environment"] = "\(environment.rawValue)"
        self.logger = logger
    }

    package func run() async {
        let loop = WorkLoop<StartShard>(
            .init(places: settings.places, pollInterval: settings.pollInterval, drain: settings.drain),
            failure: "starts could not be claimed; trying again", logger: logger, now: now, mayClaim: mayClaim,
            claim: { try await self.claim($0) }, perform: { await self.perform($0) })
        await loop.run(wakenBy: signals.wakes(.starts))
    }

    private func claim(_ free: Int) async throws -> Round<StartShard> {
        let now = now()
        let (size, again) = pushes.room(for: settings.shardSize, at: now)
        if let again { return .idle(until: again) }
        let shards = try await store.claim(
            StartClaim(
                environment: environment, replica: replica, limit: free, shardSize: size, at: now,
                leasedUntil: now.addingTimeInterval(settings.lease)))
        return try await .claimed(shards) { try await store.nextDue(in: environment) }
    }

    private func perform(_ shard: StartShard) async {
        let keeper = Task { await keep(shard.run) }
        defer { keeper.cancel() }
        let bodies = StartBodies(shard)
        let expiration = Int(shard.until.timeIntervalSince1970.rounded(.up))
        let made = await pushes.make(
            shard.members, to: shard.address, deadline: shard.until, attempts: { $0.attempts + 1 },
            push: { member in
                DevicePush(
                    token: member.token, body: bodies.body(for: member), priority: .immediate,
                    expiration: expiration, requestID: UUID())
            })
        tell(made, of: shard)
        let outcomes = made.map { StartOutcome(member: $0.member, sentAt: $0.sentAt, verdict: $0.verdict) }
        // Not cancelled with a stop: what was sent is written down.
        await Task { await settle(shard, outcomes) }.value
    }

    /// Without its answers the shard's pushes count as unknown, so the database is asked until the lease is over.
    private func settle(_ shard: StartShard, _ outcomes: [StartOutcome]) async {
        let deadline = ContinuousClock.now + .seconds(settings.lease)
        var pause = Duration.milliseconds(50)
        while true {
            do {
                return try await store.settle(shard, outcomes, replica: replica, now: now())
            } catch {
                logger.failed("answers to starts could not be recorded; trying again", error)
                guard ContinuousClock.now < deadline else { return }
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    private func keep(_ run: Int) async {
        while (try? await Task.sleep(for: .seconds(settings.lease / 3))) != nil {
            do {
                try await store.extendLeases(
                    of: [run], replica: replica, until: now().addingTimeInterval(settings.lease))
            } catch {
                logger.failed("the lease of a start could not be extended", error, at: .warning)
            }
        }
    }

    /// One line for a shard's refusals: tokens are never logged.
    private func tell(_ made: [DevicePushes.Made<StartShard.Member>], of shard: StartShard) {
        var reasons: [String: Int] = [:]
        for one in made {
            switch one.verdict {
            case .accepted, nil: break
            case .retry(_, let reason), .unknown(let reason), .rejected(let reason), .gone(let reason, _),
                .suspect(let reason):
                reasons[reason, default: 0] += 1
            }
        }
        guard !reasons.isEmpty else { return }
        logger.warning(
            "APNs did not accept all starts",
            metadata: [
                "app": "\(shard.address.bundleID)", "pushes": "\(made.count)",
                "reasons":
                    "\(reasons.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))",
            ])
    }
}
