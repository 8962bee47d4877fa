internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import Testing

@testable internal import Grandstand

/// Invariants of the plan for any ledger, list and answers. A failure names its seed.
struct ReconciliationPropertyTests {
    @Test func `whatever is listed, known and read, a plan does no harm`() throws {
        var seen: Set<String> = []
        for seed in UInt64(1)...4_000 {
            let scene = ReconciliationScene(seed: seed)
            let (actions, alarm) = scene.plan.conclusions(scene.readings, scene.options, now: scene.now)
            let harm = scene.harm(in: actions, alarm)
            try #require(harm == nil, "seed \(seed): \(harm ?? "")\n\(scene.options)\n\(scene.entries)\n\(actions)")
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
            let all = scene.plan.singleReads(scene.options, now: scene.now, limit: .max)
            let kept = (scene.plan.vanished + scene.plan.doubted).compactMap(\.channelID)
            let doubtful = Set(kept + scene.plan.unmanaged.map(\.channelID))
            try #require(Set(all).count == all.count && doubtful.isSuperset(of: all), "seed \(seed): \(all)")
            try #require(
                scene.plan.singleReads(scene.options, now: scene.now, limit: limit) == Array(all.prefix(limit)),
                "seed \(seed)")
        }
    }

    @Test
    func
        `while others create and delete channels and Apple refuses and forgets, no channel is wrongly adopted or lost`()
        async throws
    {
        var seen: Set<String> = []
        for seed in UInt64(1)...3_000 {
            // Others need the thread, too.
            await Task.yield()
            var world = ReconciliationWorld(seed: seed, isTroubled: true)
            for _ in 0..<world.rounds { _ = world.reconcile() }
            try #require(world.fault == nil, "seed \(seed): \(world.fault ?? "")\n\(world)")
            seen.formUnion(world.seen)
        }
        #expect(seen.isSuperset(of: ["settle", "reopen", "contest", "confirm", "release", "restore", "mark-missing"]))
    }

    @Test func `without other changes reconciling ends, and every event has its own channel`() async throws {
        for seed in UInt64(1)...3_000 {
            await Task.yield()
            var world = ReconciliationWorld(seed: seed)
            let rounds = world.rounds
            var quiet = 0
            for _ in 0..<rounds { quiet = world.reconcile() ? quiet + 1 : 0 }
            try #require(
                quiet >= ReconciliationWorld.quietRounds, "seed \(seed): still busy after \(rounds) rounds\n\(world)")
            try #require(world.fault == nil, "seed \(seed): \(world.fault ?? "")\n\(world)")
        }
    }
}

/// A ledger, a list, answers and options, independent of each other, except that the ledger has no channel twice.
struct ReconciliationScene {
    var entries: [Channel] = []
    var unmanaged: [UnmanagedChannel] = []
    var listing = ChannelListing(channelIDs: [])
    var readings: [String: ReconciliationPlan.Reading] = [:]
    var options: ReconciliationOptions
    let now = sceneTime.addingTimeInterval(2)

    var plan: ReconciliationPlan {
        ReconciliationPlan(listing, entries, unmanaged: unmanaged, listedAt: sceneTime)
    }

    init(seed: UInt64) {
        var random = SplitMix64(state: seed)
        options = ReconciliationOptions(
            .init(
                apply: random.chance(0.8), adopt: random.chance(0.3), deleteUnmanaged: random.chance(0.7),
                recreate: random.chance(0.3)),
            grace: random.pick([0, 10, 600]), deleteBudget: random.pick([0, 1, 2, 100]))
        let listedShare = random.pick([0, 0.5, 0.9, 1])
        for number in 0..<Int.random(in: 0...10, using: &random) {
            let entry = Self.entry("known-\(number)", &random)
            entries.append(entry)
            if let channelID = entry.channelID, random.chance(listedShare) { listing.channelIDs.append(channelID) }
        }
        for number in 0..<Int.random(in: 0...6, using: &random) {
            let channelID = "unknown-\(number)"
            if random.chance(0.95) { listing.channelIDs.append(channelID) }
            unmanaged.append(Self.unmanaged(channelID, &random))
        }
        // A channel that is recorded while Apple writes the list can be both in the ledger and among the unmanaged
        // channels.
        if let known = entries.first?.channelID, random.chance(0.2) {
            unmanaged.append(Self.unmanaged(known, &random))
        }
        listing.channelIDs.shuffle(using: &random)
        let told = random.pick([0, 0.5, 1])
        for channelID in entries.compactMap(\.channelID) + unmanaged.map(\.channelID)
        where random.chance(told) {
            readings[channelID] = random.pick([.exists(random.policy()), .gone, nil])
        }
    }

    /// Times within a few seconds, so that some of them are equal.
    private static func moment(_ random: inout SplitMix64) -> Date {
        sceneTime.addingTimeInterval(Double(Int.random(in: -12...1, using: &random)))
    }

    private static func entry(_ channelID: String, _ random: inout SplitMix64) -> Channel {
        let state = random.pick(Channel.State.allCases)
        var entry = Channel(
            id: random.uuid(), channelID: state == .creating || state == .failed ? nil : channelID, state: state,
            storagePolicy: random.policy(), eventKey: random.chance(0.7) ? EventKey(rawValue: channelID) : nil,
            changedAt: moment(&random))
        if state == .creating, random.chance(0.8) {
            let calledAt = moment(&random)
            entry.calledAt = calledAt
            entry.settleableAt = random.chance(0.9) ? max(calledAt, moment(&random)) : nil
        }
        if random.chance(0.3) { entry.doubtedAt = moment(&random) }
        if state == .deleted {
            entry.deletionConfirmed = random.chance(0.5)
            entry.isWanted = entry.eventKey != nil && random.chance(0.5)
        }
        return entry
    }

    private static func unmanaged(_ channelID: String, _ random: inout SplitMix64) -> UnmanagedChannel {
        UnmanagedChannel(
            channelID: channelID, firstSeenAt: moment(&random),
            lackedAt: random.chance(0.7) ? sceneTime.addingTimeInterval(random.pick([-100, -11, -6, -3])) : nil,
            storagePolicy: random.chance(0.6) ? random.policy() : nil, isContested: random.chance(0.1))
    }

    /// The mistake in these actions; `nil`: there is none.
    func harm(in actions: [ReconciliationAction], _ alarm: Contract.ReconciliationAlarm?) -> String? {
        let listed = Set(listing.channelIDs)
        let managed = Set(entries.filter { $0.state != .deleted }.compactMap(\.channelID))
        if actions.count(where: \.deletes) > options.deleteBudget { return "more deletions than the budget" }
        let channelIDs = actions.compactMap(\.channelID)
        if Set(channelIDs).count != channelIDs.count { return "two actions on one channel" }
        let ids = actions.compactMap(\.entry?.id)
        if Set(ids).count != ids.count { return "two actions on one row" }
        if alarm == .capabilityOff, actions.contains(where: { $0.name != .recreate }) { return "acts in an alarm" }
        for action in actions {
            if action.deletes, let channelID = action.channelID, managed.contains(channelID) {
                return "deletes a managed channel: \(action)"
            }
            if let harm = harm(in: action, listed) { return "\(harm): \(action)" }
        }
        return nil
    }

    private func harm(in action: ReconciliationAction, _ listed: Set<String>) -> String? {
        switch (action.name, action.entry, action.unmanaged) {
        case (.markMissing, let entry?, _):
            guard entry.state == .active || entry.state == .retiring else { return "marks what is not in use" }
            guard let channelID = entry.channelID, !listed.contains(channelID) else { return "marks what is listed" }
            return readings[channelID] == .gone ? nil : "marks what Apple did not call gone"
        case (.restore, let entry?, _):
            let wasLost =
                entry.state == .missing || entry.state == .deleted && !entry.deletionConfirmed && entry.isWanted
            return wasLost && entry.channelID.map(listed.contains) == true ? nil : "restores wrongly"
        case (.release, let entry?, _):
            let wasLost = entry.state == .deleted && !entry.deletionConfirmed
            return wasLost && entry.channelID.map(listed.contains) == true ? nil : "releases wrongly"
        case (.confirm, let entry?, _):
            guard entry.doubtedAt != nil, let channelID = entry.channelID else { return "confirms what is in no doubt" }
            guard entry.state == .active || entry.state == .retiring else { return "confirms what is not in use" }
            if case .exists = readings[channelID] { return nil }
            return listed.contains(channelID) && readings[channelID] == .gone ? nil : "confirms what Apple did not"
        case (.contest, _, let channel?):
            let isKin = entries.contains { isSettleable($0) && mayHaveMade($0, channel) }
            return isKin ? harmOfTaking(channel, listed, needsPolicy: false) : "contests what nobody asked for"
        case (.deleteAgain, let entry?, _):
            guard entry.deletionConfirmed else { return "deletes what nobody asked to delete" }
            guard entry.state == .deleted, entry.changedAt < sceneTime else { return "deletes what was not deleted" }
            return entry.channelID.map(listed.contains) == true ? nil : "deletes what is not listed"
        case (.settle, let call?, let channel?):
            guard let calledAt = call.calledAt, isSettleable(call) else { return "settles what is under way" }
            if !mayHaveMade(call, channel) { return "settles with what it cannot have made" }
            guard let lackedAt = channel.lackedAt, lackedAt >= calledAt.addingTimeInterval(-60) else {
                return "settles without a list shortly before"
            }
            if channel.storagePolicy != call.storagePolicy { return "settles with the other policy" }
            if rivals(call.storagePolicy) > 0 { return "settles while others may have made it" }
            return harmOfTaking(channel, listed)
        case (.reopen, let call?, _):
            guard isSettleable(call) else { return "opens what is under way" }
            return mayYetTell(call, listed) ? "opens a call that a channel may answer" : nil
        case (.adopt, _, let channel?):
            if !options.adopt { return "adopts unasked" }
            return harmOfTaking(channel, listed)
        case (.deleteUnmanaged, _, let channel?):
            if !options.deleteUnmanaged { return "deletes unasked" }
            if channel.firstSeenAt.addingTimeInterval(options.grace) > now { return "deletes within the grace" }
            return harmOfTaking(channel, listed)
        case (.recreate, let entry?, _):
            if options.recreate { return "plans what it was told to do" }
            return entry.eventKey == nil || entry.channelID.map(listed.contains) == true ? "recreates unasked" : nil
        default: return "does what is not known"
        }
    }

    private func isSettleable(_ call: Channel) -> Bool {
        call.state == .creating && call.calledAt != nil
            && call.settleableAt.map { $0 <= sceneTime } == true
    }

    /// Whether the call can have created the channel. The channel was first seen after the call began, and the last
    /// list without it was requested before `settleableAt`.
    private func mayHaveMade(_ call: Channel, _ channel: UnmanagedChannel) -> Bool {
        guard call.state == .creating, let calledAt = call.calledAt, calledAt <= channel.firstSeenAt else {
            return false
        }
        return channel.lackedAt.map { lackedAt in call.settleableAt.map { lackedAt < $0 } ?? true } ?? true
    }

    private func isUnderWay(_ call: Channel) -> Bool { call.calledAt != nil && !isSettleable(call) }

    /// The unmanaged channels of the list as they were read, without those that a running call may have created.
    private var free: [UnmanagedChannel] {
        unmanaged.compactMap { channel in
            var channel = channel
            if case .exists(let policy) = readings[channel.channelID] { channel.storagePolicy = policy }
            let isKnown = entries.contains { $0.channelID == channel.channelID }
            let isOpen = entries.contains { isUnderWay($0) && mayHaveMade($0, channel) }
            let isThere = listing.channelIDs.contains(channel.channelID) && readings[channel.channelID] != .gone
            return isThere && !isKnown && !isOpen ? channel : nil
        }
    }

    /// The number of channels that settleable calls with this policy may have created, minus the number of these calls.
    private func rivals(_ policy: StoragePolicy) -> Int {
        let calls = entries.filter { isSettleable($0) && $0.storagePolicy == policy }
        return free.count { channel in
            (channel.storagePolicy ?? policy) == policy && calls.contains { mayHaveMade($0, channel) }
        } - calls.count
    }

    /// Why an unmanaged channel must not be changed.
    private func harmOfTaking(_ channel: UnmanagedChannel, _ listed: Set<String>, needsPolicy: Bool = true) -> String? {
        if !listed.contains(channel.channelID) { return "takes what is not listed" }
        if entries.contains(where: { $0.channelID == channel.channelID }) { return "takes what is known" }
        if readings[channel.channelID] == .gone { return "takes what is gone" }
        if options.apply, needsPolicy, channel.storagePolicy == nil { return "takes what was not read" }
        let isAnothers = entries.contains { isUnderWay($0) && mayHaveMade($0, channel) }
        return isAnothers ? "takes what a creation under way may be making" : nil
    }

    /// Whether another list may tell more about the call. This is so if a channel that the call may have created was
    /// not read, or is in no action of the plan.
    private func mayYetTell(_ call: Channel, _ listed: Set<String>) -> Bool {
        let (actions, _) = plan.conclusions(readings, options, now: now)
        let decided = Set(actions.compactMap { $0.unmanaged?.channelID })
        return free.contains { channel in
            mayHaveMade(call, channel) && (channel.storagePolicy ?? call.storagePolicy) == call.storagePolicy
                && (channel.storagePolicy == nil || !decided.contains(channel.channelID))
        }
    }
}
