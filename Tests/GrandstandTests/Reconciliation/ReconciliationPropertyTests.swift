internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// Invariants of the plan for any ledger, list and answers. A failure names its seed.
struct ReconciliationPropertyTests {
    @Test func `whatever is listed, known and read, a plan does no harm`() throws {
        var seen: Set<String> = []
        for seed in UInt64(1)...4_000 {
            let scene = ReconciliationScene(seed: seed)
            let (actions, alarm) = scene.plan.conclusions(scene.readings, scene.options, now: scene.now)
            let harm = scene.harm(in: actions, alarm)
            try #require(harm == nil, "seed \(seed): \(harm ?? "")\n\(scene.options)\n\(scene.snapshot)\n\(actions)")
            seen.formUnion(actions.map(\.name.rawValue))
            if let alarm { seen.insert(alarm.rawValue) }
        }
        // Random cases in which some rule never applied would prove nothing about it.
        #expect(
            seen == [
                "mark-missing", "restore", "confirm", "release", "delete-again", "settle", "reopen", "contest", "adopt",
                "delete-unmanaged", "recreate", "capability-off", "list-incomplete", "ambiguous-creation",
            ])
    }

    @Test func `each channel in doubt is read once, within the limit, and no other is read`() throws {
        for seed in UInt64(1)...4_000 {
            let scene = ReconciliationScene(seed: seed)
            let limit = Int(seed % 7)
            let all = scene.plan.questions(scene.options, now: scene.now, limit: .max)
            let kept = (scene.plan.vanished + scene.plan.doubted).compactMap(\.channelID)
            let doubtful = Set(kept + scene.plan.unmanaged.map(\.channelID))
            try #require(Set(all).count == all.count && doubtful.isSuperset(of: all), "seed \(seed): \(all)")
            try #require(
                scene.plan.questions(scene.options, now: scene.now, limit: limit) == Array(all.prefix(limit)),
                "seed \(seed)")
        }
    }

    @Test
    func
        `while others create and delete channels and Apple refuses and forgets, no channel is wrongly adopted or lost`()
        throws
    {
        var seen: Set<String> = []
        for seed in UInt64(1)...3_000 {
            var world = ReconciliationWorld(seed: seed, isTroubled: true)
            for _ in 0..<world.rounds { _ = world.reconcile() }
            let fault = world.fault
            try #require(fault == nil, "seed \(seed): \(fault ?? "")\n\(world)")
            seen.formUnion(world.seen)
        }
        #expect(seen.isSuperset(of: ["settle", "reopen", "contest", "confirm", "release", "restore", "mark-missing"]))
    }

    @Test func `without other changes reconciling ends, and every event has its own channel`() throws {
        for seed in UInt64(1)...3_000 {
            var world = ReconciliationWorld(seed: seed)
            let rounds = world.rounds
            var quiet = 0
            for _ in 0..<rounds { quiet = world.reconcile() ? quiet + 1 : 0 }
            try #require(
                quiet >= ReconciliationWorld.quietRounds, "seed \(seed): still busy after \(rounds) rounds\n\(world)")
            let fault = world.fault
            try #require(fault == nil, "seed \(seed): \(fault ?? "")\n\(world)")
        }
    }
}
