internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Postgres
internal import Synchronization

/// Sends pushes to devices of one environment in shards: starts of events to followers, and updates to crowds. A run of
/// starts has two shards in progress at a time, the lane of a crowd has one. A shard is settled after its last answer.
struct ShardDispatcher {
    let store: any ShardStore
    let pushes: DevicePushes
    /// The signal of new work.
    let topic: WakeTopic
    /// The number of pushes in a shard. After a crash, at most this many pushes have an unknown result or are repeated.
    var shardSize = 2_000
    /// The maximum number of shards in progress at a time.
    var slots = 4
    private let outage = Outage()

    /// When the last claim failed.
    private final class Outage: Sendable { let last = Mutex(Date.distantPast) }

    private var worker: Worker { pushes.worker }

    func run() async {
        // All wake-ups during the rest cause one round.
        let loop = WorkLoop<Shard>(
            .init(slots: slots, minPause: .milliseconds(5), pollInterval: worker.pollInterval, topic: topic),
            failure: "pushes to devices could not be claimed", worker,
            claim: { try await claim($0, held: $1.unrecorded) }, perform: send,
            extend: { shards in
                try await store.extendLeases(
                    of: shards.map(\.owner), replica: worker.replica, until: worker.leasedUntil)
            })
        await loop.run()
    }

    private func claim(_ free: Int, held: [Shard]) async throws -> Round<Shard> {
        let now = worker.now()
        let (size, again) = pushes.room(for: shardSize, at: now)
        if let again { return .idle(until: again) }
        var claim = pushes.rates.newClaim(free, by: worker, at: now)
        (claim.shardSize, claim.held) = (size, held.map(\.owner).sorted())
        // While the database was away, no replica could extend a lease or record an answer. So after an outage, every
        // replica has two leases' time for this, before its shards are taken over.
        let isRecovering = now < outage.last.withLock { $0 + 2 * worker.lease }
        if isRecovering { claim.leasesEndedBefore = .distantPast }
        do {
            return try await .claimed(try await store.claim(claim)) {
                // Work that is due, but cannot be claimed yet, is looked for four times a second.
                let mustWait = isRecovering || !claim.limits.pausedApps.isEmpty
                let earliest = mustWait ? now.addingTimeInterval(0.25) : .distantPast
                return try await store.nextDue(in: claim.environment).map { max($0, earliest) }
            }
        } catch {
            outage.last.withLock { $0 = worker.now() }
            throw error
        }
    }

    private func send(_ shard: Shard) async -> WorkLoop<Shard>.Settling {
        let outcomes = await pushes.send(shard)
        logChange(outcomes, of: shard)
        return {
            do {
                try await store.settle(shard, outcomes, replica: worker.replica, now: worker.now())
            } catch let error as PostgresError {
                // A lost answer could repeat a start. So also what the database refuses is tried again.
                throw Problem(.storeUnavailable, "\(error)")
            }
        }
    }

    /// Logs a warning when an app's pushes begin to fail, and a notice when they are accepted again. Tokens are never
    /// logged.
    private func logChange(_ outcomes: [PushOutcome], of shard: Shard) {
        let (app, now) = (shard.address.bundleID, worker.now())
        var reasons: [String: Int] = [:]
        var (begins, ends) = (false, false)
        for one in outcomes {
            switch one.verdict {
            case .accepted: ends = pushes.rates.note(isAccepted: true, of: app, sentAt: one.sentAt, at: now) || ends
            // An app was removed from a phone: nothing is wrong with the pushes.
            case .gone, nil: break
            case .retry, .unknown, .rejected, .expired, .suspect:
                begins = pushes.rates.note(isAccepted: false, of: app, sentAt: one.sentAt, at: now) || begins
            }
            if case .retry(_, let reason) = one.verdict, APNsReason(rawValue: reason).concernsProviderToken { continue }
            if let reason = one.verdict?.reason { reasons[reason, default: 0] += 1 }
        }
        let place: Logger.Metadata = ["app": "\(app)"]
        if ends { worker.logger.notice("APNs accepts pushes to devices of the app again", metadata: place) }
        guard !reasons.isEmpty else { return }
        let list = reasons.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        worker.logger.log(
            level: begins ? .warning : .debug, "APNs did not accept all pushes to devices",
            metadata: place.merging(["pushes": "\(outcomes.count)", "reasons": "\(list)"]) { $1 })
    }
}

/// Sends pushes to many devices of one environment, a limited number at a time. While the circuit to APNs is open, it
/// sends only one probe at a time.
///
/// Broadcasts have their own connections (`APNsClient.PoolKey`) and their own limit, so a broadcast does not wait for a
/// million starts.
struct DevicePushes: Sendable {
    let gateway: any DeviceGateway
    /// Limits the requests to APNs at a time.
    let permits: Semaphore
    let rates: SendRates
    /// Pushes that were not sent before the end of its drain are sent later.
    let worker: Worker
    private let stateRef = StateRef()

    private final class StateRef: Sendable {
        struct State {
            var circuit = Circuit()
            var inFlight = 0
        }

        let state = Mutex(State())
    }

    /// Seconds between two checks while a probe is in flight.
    private static let recheckPause: TimeInterval = 0.25

    /// How many of `size` pushes should be claimed now.
    ///
    /// - Returns: `size`. While the circuit is open, the result is one push for a probe, or no push and the time to ask
    ///   again.
    func room(for size: Int, at now: Date) -> (size: Int, again: Date?) {
        stateRef.state.withLock { state in
            guard !state.circuit.isClosed else { return (size, nil) }
            if let pause = state.circuit.retryIn(now: now), pause > 0 { return (0, now.addingTimeInterval(pause)) }
            // Only one probe is sent at a time: further shards would be claimed and given back without a send.
            guard state.inFlight == 0 else { return (0, now.addingTimeInterval(Self.recheckPause)) }
            return (1, nil)
        }
    }

    /// Sends a push to each member. Returns when each push has an answer or will get none.
    func send(_ shard: Shard) async -> [PushOutcome] {
        await withTaskGroup(of: PushOutcome.self) { group in
            for member in shard.members {
                await waitForTurn(of: shard.address.bundleID)
                await permits.enter()
                group.addTask {
                    defer { permits.leave() }
                    return await send(shard.request(for: member), for: member, of: shard)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func send(_ push: DevicePush, for member: Shard.Member, of shard: Shard) async -> PushOutcome {
        let sentAt = worker.now()
        guard !Task.isCancelled, tryBegin(shard.address, at: sentAt) else {
            return PushOutcome(member: member, sentAt: sentAt, verdict: nil)
        }
        let answer = await gateway.push(push, to: shard.address)
        let answeredAt = worker.now()
        stateRef.state.withLock { state in
            state.inFlight -= 1
            state.circuit.record(.init(answer), now: answeredAt, jitter: .random(in: 0..<1))
        }
        if case .withheld = answer, rates.keys.lacks(shard.address, at: answeredAt) {
            return PushOutcome(member: member, sentAt: sentAt, verdict: nil)
        }
        _ = rates.record(
            answer, of: shard.address.bundleID, recipient: push.token.hashValue, sentAt: sentAt, at: answeredAt)
        return PushOutcome(
            member: member, sentAt: sentAt,
            verdict: TokenVerdict(
                answer, attempts: member.attempts + 1, deadline: shard.deadline, now: answeredAt,
                jitter: .random(in: 0..<1)))
    }

    /// If APNs throttles the app, waits until the app may send another push.
    private func waitForTurn(of bundleID: BundleID) async {
        while !Task.isCancelled, let next = rates.takeTurn(of: bundleID, at: worker.now()) {
            try? await Task.sleep(for: .seconds(max(0.001, next.timeIntervalSince(worker.now()))))
        }
    }

    private func tryBegin(_ address: APNsAddress, at now: Date) -> Bool {
        guard !rates.isHeldBack(address.bundleID, at: now) else { return false }
        return stateRef.state.withLock { state in
            guard state.circuit.allowance(1, flying: state.inFlight, now: now) > 0 else { return false }
            state.inFlight += 1
            return true
        }
    }
}
