internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// Sends pushes to many devices of one environment, a limited number at a time. While the circuit to APNs is open, it
/// sends only one probe at a time.
///
/// Broadcasts have their own connections (`APNsClient.PoolKey`) and their own limit, so a broadcast does not wait for a
/// million starts.
struct DevicePushes: Sendable {
    let gateway: any DeviceGateway
    /// Limits the requests to APNs at a time.
    let places: Semaphore
    let rates: SendRates
    /// Records whether APNs accepts the pushes of each app.
    let accounts: SendAccounts
    /// Knows the apps whose pushes are left to other processes; `nil`: this process has all keys.
    var keys: KeyWatch?
    let now: @Sendable () -> Date
    private let shared = Shared()

    private final class Shared: Sendable {
        struct State {
            var circuit = Circuit()
            var flying = 0
            /// The time until which nothing is sent to an app, because APNs refuses its key.
            var heldBack: [BundleID: Date] = [:]
        }

        let state = Mutex(State())
    }

    /// Seconds between two checks while a probe is in flight.
    private static let probePause: TimeInterval = 0.25

    /// How many of `size` pushes should be claimed now.
    ///
    /// - Returns: `size`. While the circuit is open, the result is one push for a probe, or no push and the time to ask
    ///   again.
    func room(for size: Int, at now: Date) -> (size: Int, again: Date?) {
        shared.state.withLock { state in
            guard !state.circuit.isClosed else { return (size, nil) }
            if let pause = state.circuit.pause(now: now), pause > 0 { return (0, now.addingTimeInterval(pause)) }
            // Only one probe is sent at a time: further shards would be claimed and given back without a send.
            guard state.flying == 0 else { return (0, now.addingTimeInterval(Self.probePause)) }
            return (1, nil)
        }
    }

    /// The apps whose key APNs refuses or this process lacks, and to which nothing may be sent yet.
    func heldBack(at now: Date) -> [BundleID] {
        let resting = keys?.resting(in: rates.environment, at: now) ?? []
        return shared.state.withLock { state in
            state.heldBack = state.heldBack.filter { $0.value > now }
            return Set(resting).union(state.heldBack.keys).sorted()
        }
    }

    /// Sends a push to each member. Returns when each push has an answer or will get none.
    func make<Shard: PushShard>(_ shard: Shard) async -> [PushOutcome<Shard.Member>] {
        let turns = Turns()
        let members = shard.members
        let request = shard.requests()
        return await withTaskGroup(of: [PushOutcome<Shard.Member>].self) { group in
            for _ in 0..<min(places.permits, members.count) {
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
        shared.state.withLock { state in
            state.flying -= 1
            state.circuit.record(.init(answer), now: answeredAt, jitter: .random(in: 0..<1))
            if case .refused(let refusal) = answer, refusal.isOfRefusedKey, let seconds = refusal.retryAfter {
                state.heldBack[shard.address.bundleID] = answeredAt.addingTimeInterval(Double(seconds))
            }
        }
        if case .withheld = answer, let keys, keys.lacks(shard.address, at: answeredAt) {
            return PushOutcome(member: member, sentAt: sentAt, verdict: nil)
        }
        _ = rates.record(
            answer, of: shard.address.bundleID, lane: push.token.hashValue, sentAt: sentAt, at: answeredAt)
        return PushOutcome(
            member: member, sentAt: sentAt,
            verdict: TokenVerdict(
                answer, attempts: member.attempts + 1, deadline: shard.deadline, now: answeredAt,
                jitter: .random(in: 0..<1)))
    }

    /// If APNs throttles the app, waits until the app may send another push.
    private func waitForTurn(of bundleID: BundleID) async {
        while !Task.isCancelled, let next = rates.turn(of: bundleID, at: now()) {
            try? await Task.sleep(for: .seconds(max(0.001, next.timeIntervalSince(now()))))
        }
    }

    private func begin(_ address: APNsAddress, at now: Date) -> Bool {
        shared.state.withLock { state in
            if let until = state.heldBack[address.bundleID], until > now { return false }
            guard state.circuit.admits(1, flying: state.flying, now: now) > 0 else { return false }
            state.flying += 1
            return true
        }
    }

    /// Counts through the members. `next()` returns the index of the member to be sent to.
    private final class Turns: Sendable {
        private let count = Atomic(0)

        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }
}
