package import FoundationEssentials
package import Grandstand
internal import Synchronization

/// Makes pushes to many devices of one environment: so many at a time, and none while its host is not well.
///
/// Broadcasts have connections and places of their own (`APNsClient.Traffic`): a goal does not wait for a million starts.
package final class DevicePushes: Sendable {
    private struct State {
        var circuit = Circuit()
        var flying = 0
        /// Until when nothing goes to an app whose key APNs refuses.
        var heldBack: [BundleID: Date] = [:]
    }

    private let gateway: any DeviceGateway
    private let concurrency: Int
    let rates: SendRates
    private let places: Semaphore
    private let now: @Sendable () -> Date
    private let state = Mutex(State())
    /// Seconds between two looks while a probe is under way.
    private static let probePause: TimeInterval = 0.25

    /// - Parameter concurrency: requests to APNs at a time.
    package init(gateway: any DeviceGateway, concurrency: Int, rates: SendRates, now: @escaping @Sendable () -> Date) {
        self.gateway = gateway
        self.concurrency = concurrency
        self.rates = rates
        self.now = now
        places = Semaphore(permits: concurrency)
    }

    /// How many of `size` pushes are worth claiming now.
    ///
    /// - Returns: fewer, and none with the time to ask again, while APNs is not well.
    package func room(for size: Int, at now: Date) -> (size: Int, again: Date?) {
        state.withLock { state in
            guard !state.circuit.isClosed else { return (size, nil) }
            if let pause = state.circuit.pause(now: now), pause > 0 { return (0, now.addingTimeInterval(pause)) }
            // One probe at a time: shards claimed beside it would only be given back.
            guard state.flying == 0 else { return (0, now.addingTimeInterval(Self.probePause)) }
            return (1, nil)
        }
    }

    /// The apps whose key APNs refuses, and whose next push may not go yet.
    package func heldBack(at now: Date) -> [BundleID] {
        state.withLock { state in
            state.heldBack = state.heldBack.filter { $0.value > now }
            return state.heldBack.keys.sorted()
        }
    }

    /// Makes a push for each member; ends when each has its answer or is known to get none.
    package func make<Shard: PushShard>(_ shard: Shard) async -> [PushOutcome<Shard.Member>] {
        let turns = Turns()
        let members = shard.members
        let request = shard.requests()
        return await withTaskGroup(of: [PushOutcome<Shard.Member>].self) { group in
            for _ in 0..<min(concurrency, members.count) {
                group.addTask {
                    var outcomes: [PushOutcome<Shard.Member>] = []
                    while true {
                        let index = turns.next()
                        guard index < members.count else { return outcomes }
                        let member = members[index]
                        await self.waitForTurn(of: shard.address.bundleID)
                        outcomes.append(
                            await self.places.withPermit { await self.make(request(member), for: member, of: shard) })
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func make<Shard: PushShard>(
        _ push: DevicePush, for member: Shard.Member, of shard: Shard
    ) async -> PushOutcome<Shard.Member> {
        let sentAt = now()
        guard !Task.isCancelled, begin(shard.address, at: sentAt) else {
            return PushOutcome(member: member, sentAt: sentAt, verdict: nil)
        }
        let answer = await gateway.push(push, to: shard.address)
        let answeredAt = now()
        state.withLock { state in
            state.flying -= 1
            state.circuit.record(.init(answer), now: answeredAt, jitter: .random(in: 0..<1))
            if case .refused(let refusal) = answer, refusal.isOfRefusedKey, let seconds = refusal.retryAfter {
                state.heldBack[shard.address.bundleID] = answeredAt.addingTimeInterval(Double(seconds))
            }
        }
        _ = rates.record(
            answer, of: shard.address.bundleID, lane: push.token.hashValue, sentAt: sentAt, at: answeredAt)
        return PushOutcome(
            member: member, sentAt: sentAt,
            verdict: TokenVerdict(
                answer, attempts: shard.attempt(for: member), deadline: shard.deadline, now: answeredAt,
                jitter: .random(in: 0..<1)))
    }

    /// Waits until the app may send another push, where APNs throttles it.
    private func waitForTurn(of bundleID: BundleID) async {
        while !Task.isCancelled, let next = rates.turn(of: bundleID, at: now()) {
            try? await Task.sleep(for: .seconds(max(0.001, next.timeIntervalSince(now()))))
        }
    }

    private func begin(_ address: APNsAddress, at now: Date) -> Bool {
        state.withLock { state in
            if let until = state.heldBack[address.bundleID], until > now { return false }
            guard state.circuit.admits(1, flying: state.flying, now: now) > 0 else { return false }
            state.flying += 1
            return true
        }
    }

    /// The owner whose turn it is.
    private final class Turns: Sendable {
        private let count = Atomic(0)

        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }
}
