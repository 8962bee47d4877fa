internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// While PostgreSQL is frozen, killed or cut off, every call is answered within five seconds. Once PostgreSQL is back,
/// every loop of the server goes on within ten seconds, wherever the loop was interrupted.
///
/// The gate (`.ci/run`) interrupts PostgreSQL a few times. `GRANDSTAND_FREEZES=200` is the long run, and
/// `GRANDSTAND_FREEZES_SEED` repeats the choices of a run.
@Suite(.timeLimit(.minutes(60)))
struct FreezeTests {
    private static let freezes = Drill.number("GRANDSTAND_FREEZES") ?? 4
    private static let seed = Drill.seed("GRANDSTAND_FREEZES_SEED")
    /// The worlds run in parallel, because a round mostly waits. Half of the worlds connect over TCP, half over the
    /// socket.
    private static let worlds = freezes < 20 ? 2 : 4

    @Test(arguments: 0..<worlds)
    func `while PostgreSQL freezes or is killed calls are answered, and every loop continues`(
        _ world: Int
    ) async throws {
        let tcpPort = world.isMultiple(of: 2) ? nil : Int.random(in: 15_000...30_000)
        let place = "freezes, world \(world) over \(tcpPort == nil ? "the socket" : "TCP")"
        print("\(place): \(Self.freezes / Self.worlds), GRANDSTAND_FREEZES_SEED=\(Self.seed)")
        try await FreezeWorld.with(tcpPort: tcpPort) { place in
            var random = SplitMix(seed: Self.seed &+ UInt64(world))
            var tally: [FreezeWorld.Fault: Int] = [:]
            for round in 1...max(1, Self.freezes / Self.worlds) {
                // Even a short run has a freeze, but no long freeze. A long run reaches every step.
                let drawn = FreezeWorld.Fault.any(&random)
                let fault = round == 1 ? .freeze : Self.freezes < 20 && drawn == .longFreeze ? .kill : drawn
                let steps = FreezeStep.all
                let turn = random.next(below: 4) > 0
                let step = turn ? steps[(round * Self.worlds + world + random.next(below: 3)) % steps.count] : nil
                let milliseconds =
                    switch fault {
                    case .blink: 500 + random.next(below: 3_000)
                    case .longFreeze: 33_000 + random.next(below: 5_000)
                    default: 5_000 + random.next(below: 5_000)
                    }
                tally[fault, default: 0] += 1
                try await place.round(round, fault, at: step, for: .milliseconds(milliseconds))
            }
            try await place.expectNoDoubles()
            print("freezes, world \(world): \(Drill.text(tally)); \(place.report)")
        }
    }
}
