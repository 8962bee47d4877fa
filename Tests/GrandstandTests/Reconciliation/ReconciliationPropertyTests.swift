internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// What holds of the plan for every ledger, every list and every answer. A failure names its seed.
struct ReconciliationPropertyTests {
    @Test func `whatever is listed, known and read, a plan does no harm`() throws {
        var seen: Set<String> = []
        for seed in UInt64(1)...4_000 {
            let scene = Scene(seed: seed)
            let (actions, alarm) = scene.plan.conclusions(scene.readings, scene.options, now: scene.now)
            let harm = scene.harm(in: actions, alarm)
            try #require(harm == nil, "seed \(seed): \(harm ?? "")\n\(scene.options)\n\(scene.snapshot)\n\(actions)")
            seen.formUnion(actions.map(\.name))
            if let alarm { seen.insert(alarm.rawValue) }
        }
        // Random scenes that never came to something would show nothing of it.
        #expect(
            seen == [
                "mark-missing", "restore", "delete-again", "settle", "reopen", "adopt", "delete-unmanaged", "recreate",
                "capability-off", "list-incomplete",
            ])
    }

    @Test func `questions are asked once each, within the limit, and only of channels in doubt`() throws {
        for seed in UInt64(1)...4_000 {
            let scene = Scene(seed: seed)
            let limit = Int(seed % 7)
            let all = scene.plan.questions(scene.options, now: scene.now, limit: .max)
            let doubtful = Set(scene.plan.vanished.compactMap(\.channelID) + scene.plan.unmanaged.map(\.channelID))
            try #require(Set(all).count == all.count && doubtful.isSuperset(of: all), "seed \(seed): \(all)")
            try #require(
                scene.plan.questions(scene.options, now: scene.now, limit: limit) == Array(all.prefix(limit)),
                "seed \(seed)")
        }
    }

    @Test func `with nothing else changing, reconciling ends, and every event has one channel of its own`() throws {
        for seed in UInt64(1)...3_000 {
            var world = World(seed: seed)
            let rounds = world.rounds
            var quiet = 0
            for _ in 0..<rounds { quiet = world.reconcile() ? quiet + 1 : 0 }
            try #require(quiet >= World.quietRounds, "seed \(seed): still busy after \(rounds) rounds\n\(world)")
            let fault = world.fault
            try #require(fault == nil, "seed \(seed): \(fault ?? "")\n\(world)")
        }
    }
}

/// SplitMix64, so that a seed is a case.
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ probability: Double) -> Bool { .random(in: 0..<1, using: &self) < probability }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &self)] }

    mutating func policy() -> StoragePolicy { pick(StoragePolicy.allCases) }

    mutating func uuid() -> UUID {
        let (high, low) = (next().bigEndian, next().bigEndian)
        let bytes = withUnsafeBytes(of: (high, low)) { Array($0) }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

private let listedAt = Date(timeIntervalSince1970: 1_000_000)

// MARK: -

/// A ledger, a list, readings and options that have nothing to do with each other, except that the ledger holds no
/// channel twice.
private struct Scene {
    var snapshot = LedgerSnapshot(entries: [], unmanaged: [], listedAt: listedAt)
    var listing = ChannelListing(channelIDs: [])
    var readings: [String: ReconciliationPlan.Reading] = [:]
    var options: ReconciliationOptions
    let now = listedAt.addingTimeInterval(2)

    var plan: ReconciliationPlan { ReconciliationPlan(listing, snapshot) }

    init(seed: UInt64) {
        var random = SplitMix64(state: seed)
        options = ReconciliationOptions(
            apply: random.chance(0.8), adopt: random.chance(0.3), deleteUnmanaged: random.chance(0.7),
            recreate: random.chance(0.3), grace: random.pick([0, 10, 600]), deleteBudget: random.pick([0, 1, 2, 100]))
        let listedShare = random.pick([0, 0.5, 0.9, 1])
        for number in 0..<Int.random(in: 0...10, using: &random) {
            let entry = Self.entry("known-\(number)", &random)
            snapshot.entries.append(entry)
            if let channelID = entry.channelID, random.chance(listedShare) { listing.channelIDs.append(channelID) }
        }
        for number in 0..<Int.random(in: 0...6, using: &random) {
            let channelID = "unknown-\(number)"
            if random.chance(0.95) { listing.channelIDs.append(channelID) }
            snapshot.unmanaged.append(Self.unmanaged(channelID, &random))
        }
        // One that is recorded while the list is taken down can be on both sides.
        if let known = snapshot.entries.first?.channelID, random.chance(0.2) {
            snapshot.unmanaged.append(Self.unmanaged(known, &random))
        }
        listing.channelIDs.shuffle(using: &random)
        let told = random.pick([0, 0.5, 1])
        for channelID in snapshot.entries.compactMap(\.channelID) + snapshot.unmanaged.map(\.channelID)
        where random.chance(told) {
            readings[channelID] = random.pick([.exists(random.policy()), .gone, .unknown])
        }
    }

    /// Small numbers, so that they meet.
    private static func moment(_ random: inout SplitMix64) -> Date {
        listedAt.addingTimeInterval(Double(Int.random(in: -12...1, using: &random)))
    }

    private static func entry(_ channelID: String, _ random: inout SplitMix64) -> LedgerSnapshot.Entry {
        let state = random.pick(Channel.State.allCases)
        var entry = LedgerSnapshot.Entry(
            id: random.uuid(), channelID: state == .creating || state == .failed ? nil : channelID, state: state,
            storagePolicy: random.policy(), eventKey: random.chance(0.7) ? EventKey(rawValue: channelID) : nil,
            changedAt: moment(&random))
        if state == .creating, random.chance(0.8) {
            let calledAt = moment(&random)
            entry.calledAt = calledAt
            entry.settleableAt = random.chance(0.9) ? max(calledAt, moment(&random)) : nil
        }
        return entry
    }

    private static func unmanaged(_ channelID: String, _ random: inout SplitMix64) -> UnmanagedChannel {
        UnmanagedChannel(
            channelID: channelID, firstSeenAt: moment(&random),
            storagePolicy: random.chance(0.6) ? random.policy() : nil)
    }

    /// What is wrong with these actions; `nil`: nothing.
    func harm(in actions: [ReconciliationAction], _ alarm: ReconciliationReport.Alarm?) -> String? {
        let listed = Set(listing.channelIDs)
        let managed = Set(snapshot.entries.filter { $0.state != .deleted }.compactMap(\.channelID))
        if actions.count(where: \.deletes) > options.deleteBudget { return "more deletions than the budget" }
        let channelIDs = actions.compactMap(\.channelID)
        if Set(channelIDs).count != channelIDs.count { return "two actions on one channel" }
        let ids = actions.compactMap(\.entry?.id)
        if Set(ids).count != ids.count { return "two actions on one row" }
        if alarm == .capabilityOff, actions.contains(where: { $0.name != "recreate" }) { return "acts in an alarm" }
        for action in actions {
            if action.deletes, let channelID = action.channelID, managed.contains(channelID) {
                return "deletes a managed channel: \(action)"
            }
            if let harm = harm(in: action, listed) { return "\(harm): \(action)" }
        }
        return nil
    }

    private func harm(in action: ReconciliationAction, _ listed: Set<String>) -> String? {
        switch action {
        case .markMissing(let entry):
            guard entry.state == .active || entry.state == .retiring else { return "marks what is not in use" }
            guard let channelID = entry.channelID, !listed.contains(channelID) else { return "marks what is listed" }
            return readings[channelID] == .gone ? nil : "marks what Apple did not call gone"
        case .restore(let entry):
            return entry.state == .missing && entry.channelID.map(listed.contains) == true ? nil : "restores wrongly"
        case .deleteAgain(let entry):
            guard entry.state == .deleted, entry.changedAt < listedAt else { return "deletes what was not deleted" }
            return entry.channelID.map(listed.contains) == true ? nil : "deletes what is not listed"
        case .settle(let call, let channel):
            guard let calledAt = call.calledAt, isSettleable(call) else { return "settles what is under way" }
            if calledAt > channel.firstSeenAt { return "settles with an older channel" }
            if channel.storagePolicy != call.storagePolicy { return "settles with the other policy" }
            return harmOfTaking(channel, listed)
        case .reopen(let call):
            guard isSettleable(call) else { return "opens what is under way" }
            return mayHaveMadeOne(call, listed) ? "opens a call that a channel may answer" : nil
        case .adopt(let channel):
            if !options.adopt { return "adopts unasked" }
            return harmOfTaking(channel, listed)
        case .deleteUnmanaged(let channel):
            if !options.deleteUnmanaged { return "deletes unasked" }
            if channel.firstSeenAt.addingTimeInterval(options.grace) > now { return "deletes within the grace" }
            return harmOfTaking(channel, listed)
        case .recreate(let entry):
            if options.recreate { return "plans what it was told to do" }
            return entry.eventKey == nil || entry.channelID.map(listed.contains) == true ? "recreates unasked" : nil
        }
    }

    private func isSettleable(_ call: LedgerSnapshot.Entry) -> Bool {
        call.state == .creating && call.calledAt != nil
            && call.settleableAt.map { $0 <= snapshot.listedAt } == true
    }

    /// Why an unmanaged channel must be left alone.
    private func harmOfTaking(_ channel: UnmanagedChannel, _ listed: Set<String>) -> String? {
        if !listed.contains(channel.channelID) { return "takes what is not listed" }
        if snapshot.entries.contains(where: { $0.channelID == channel.channelID }) { return "takes what is known" }
        if readings[channel.channelID] == .gone { return "takes what is gone" }
        if options.apply, channel.storagePolicy == nil { return "takes what was not read" }
        let isAnothers = snapshot.entries.contains { call in
            guard call.state == .creating, let calledAt = call.calledAt, !isSettleable(call) else { return false }
            return calledAt <= channel.firstSeenAt
        }
        return isAnothers ? "takes what a creation under way may be making" : nil
    }

    /// Whether some channel of the list that nobody else was given may be what the call made.
    private func mayHaveMadeOne(_ call: LedgerSnapshot.Entry, _ listed: Set<String>) -> Bool {
        let (actions, _) = plan.conclusions(readings, options, now: now)
        let given = Set(
            actions.compactMap { action in
                if case .settle(_, let channel) = action { channel.channelID } else { String?.none }
            })
        return snapshot.unmanaged.contains { channel in
            var policy = channel.storagePolicy
            if case .exists(let read) = readings[channel.channelID] { policy = read }
            return listed.contains(channel.channelID) && !given.contains(channel.channelID)
                && !snapshot.entries.contains { $0.channelID == channel.channelID }
                && readings[channel.channelID] != .gone
                && (call.calledAt ?? .distantFuture) <= channel.firstSeenAt
                && (policy ?? call.storagePolicy) == call.storagePolicy
        }
    }
}

// MARK: -

/// Apple, the ledger and the workers that do what the ledger asks for. Apple answers every reading with the truth.
private struct World: CustomStringConvertible {
    /// Rounds without any change after which nothing more will come: longer than any grace and any call.
    static let quietRounds = 4

    var apple: [String: StoragePolicy] = [:]
    var ledger: [LedgerSnapshot.Entry] = []
    var sights: [String: UnmanagedChannel] = [:]
    var events: Set<EventKey> = []
    var options: ReconciliationOptions
    var readLimit: Int
    var now = listedAt
    var random: SplitMix64
    private var made = 0

    init(seed: UInt64) {
        random = SplitMix64(state: seed)
        let deletes = random.chance(0.7)
        options = ReconciliationOptions(
            apply: true, adopt: random.chance(0.3), deleteUnmanaged: deletes, recreate: random.chance(0.2),
            grace: random.pick([0, 60, 600]), deleteBudget: random.pick([0, 1, 3, 100]))
        readLimit = random.pick([2, 500])
        let vanishing = random.pick([0, 0.2, 1])
        for number in 0..<Int.random(in: 0...6, using: &random) {
            guard let key = EventKey(rawValue: "event-\(number)") else { continue }
            events.insert(key)
            addRow(random.pick([.creating, .creating, .active, .active, .missing]), key, vanishing)
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let state = random.pick([Channel.State.creating, .active, .missing, .retiring, .deleting, .deleted])
            addRow(state, state == .retiring ? EventKey(rawValue: "over") : nil, vanishing)
        }
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            let channelID = make(random.policy())
            if random.chance(0.5) { sight(channelID, at: ago(0...900)) }
        }
    }

    private mutating func ago(_ seconds: ClosedRange<Int>) -> Date {
        now.addingTimeInterval(-Double(Int.random(in: seconds, using: &random)))
    }

    private mutating func make(_ policy: StoragePolicy) -> String {
        made += 1
        apple["channel-\(made)"] = policy
        return "channel-\(made)"
    }

    private mutating func sight(_ channelID: String, at moment: Date) {
        sights[channelID] = UnmanagedChannel(
            channelID: channelID, firstSeenAt: moment, storagePolicy: random.chance(0.5) ? apple[channelID] : nil)
    }

    private mutating func addRow(_ state: Channel.State, _ key: EventKey?, _ vanishing: Double) {
        var entry = LedgerSnapshot.Entry(
            id: random.uuid(), channelID: nil, state: state, storagePolicy: random.policy(), eventKey: key,
            changedAt: ago(1...900))
        if state != .creating {
            entry.channelID = make(entry.storagePolicy)
            let isThere = state == .missing || state == .deleted ? random.chance(0.3) : !random.chance(vanishing)
            if !isThere, let channelID = entry.channelID { apple[channelID] = nil }
        } else if key == nil || random.chance(0.7) {
            // A call without an answer: perhaps still under way, perhaps it made a channel, perhaps that was seen.
            let calledAt = ago(1...900)
            entry.calledAt = calledAt
            entry.settleableAt = random.chance(0.7) ? calledAt.addingTimeInterval(1) : now.addingTimeInterval(90)
            if random.chance(0.5) {
                let channelID = make(entry.storagePolicy)
                if random.chance(0.5) {
                    sight(
                        channelID,
                        at: calledAt.addingTimeInterval(random.pick([0, 0.5]) * now.timeIntervalSince(calledAt)))
                }
            }
        }
        ledger.append(entry)
    }

    /// More than it may take: the budget and the limit of readings spread the work over several rounds.
    var rounds: Int {
        let channels = made + ledger.count
        let slowest = max(1, min(options.deleteBudget == 0 ? .max : options.deleteBudget, readLimit))
        return 6 + 2 * (channels + slowest - 1) / slowest + Self.quietRounds
    }

    /// One round, four minutes long.
    ///
    /// - Returns: whether nothing was done in it.
    mutating func reconcile() -> Bool {
        let worked = work()
        let listedAt = now
        now += 1
        let listing = ChannelListing(channelIDs: apple.keys.sorted())
        let plan = ReconciliationPlan(listing, observe(listing, listedAt: listedAt))
        var readings: [String: ReconciliationPlan.Reading] = [:]
        for channelID in plan.questions(options, now: now, limit: readLimit) {
            readings[channelID] = apple[channelID].map(ReconciliationPlan.Reading.exists) ?? .gone
            sights[channelID]?.storagePolicy = apple[channelID]
        }
        let (actions, alarm) = plan.conclusions(readings, options, now: now)
        now += 1
        if alarm == .capabilityOff {
            // Somebody looked, and says that it is true.
            options.recreate = true
        } else {
            for action in actions { carryOut(action) }
        }
        now += 240
        return !worked && actions.isEmpty && alarm == nil
    }

    private mutating func observe(_ listing: ChannelListing, listedAt: Date) -> LedgerSnapshot {
        let known = Set(ledger.compactMap(\.channelID))
        let listed = Set(listing.channelIDs)
        sights = sights.filter { listed.contains($0.key) && !known.contains($0.key) }
        for channelID in listing.channelIDs where !known.contains(channelID) && sights[channelID] == nil {
            sights[channelID] = UnmanagedChannel(channelID: channelID, firstSeenAt: now)
        }
        return LedgerSnapshot(
            entries: ledger.filter { $0.state != .deleted || $0.channelID.map(listed.contains) == true },
            unmanaged: sights.values.sorted { ($0.firstSeenAt, $0.channelID) < ($1.firstSeenAt, $1.channelID) },
            listedAt: listedAt)
    }

    /// What the ledger's workers do by themselves: open intents, deletions, replacements.
    private mutating func work() -> Bool {
        var worked = false
        for index in ledger.indices {
            var entry = ledger[index]
            switch entry.state {
            case .creating where entry.calledAt == nil:
                entry.channelID = make(entry.storagePolicy)
                entry.state = .active
            case .deleting:
                if let channelID = entry.channelID { apple[channelID] = nil }
                entry.state = .deleted
            case .missing where entry.eventKey != nil:
                entry.state = .deleted
                var replacement = entry
                replacement.id = random.uuid()
                replacement.channelID = make(entry.storagePolicy)
                replacement.state = .active
                replacement.changedAt = now
                ledger.append(replacement)
            default: continue
            }
            entry.changedAt = now
            ledger[index] = entry
            worked = true
        }
        return worked
    }

    private mutating func carryOut(_ action: ReconciliationAction) {
        switch action {
        case .recreate: break
        case .markMissing(let entry): change(entry) { $0.state = $0.state == .active ? .missing : .deleted }
        case .restore(let entry): change(entry) { $0.state = .active }
        case .deleteAgain(let entry): change(entry) { $0.state = .deleting }
        case .reopen(let entry):
            change(entry) { row in
                row.calledAt = nil
                row.settleableAt = nil
                if row.eventKey == nil { row.state = .deleted }
            }
        case .settle(let entry, let channel):
            change(entry) { row in
                row.calledAt = nil
                row.settleableAt = nil
                row.channelID = channel.channelID
                row.state = .active
            }
        case .adopt(let channel): takeOver(channel, as: .active)
        case .deleteUnmanaged(let channel): takeOver(channel, as: .deleting)
        }
    }

    private mutating func change(_ entry: LedgerSnapshot.Entry, _ body: (inout LedgerSnapshot.Entry) -> Void) {
        guard let index = ledger.firstIndex(where: { $0.id == entry.id }) else { return }
        body(&ledger[index])
        ledger[index].changedAt = now
    }

    private mutating func takeOver(_ channel: UnmanagedChannel, as state: Channel.State) {
        ledger.append(
            LedgerSnapshot.Entry(
                id: random.uuid(), channelID: channel.channelID, state: state,
                storagePolicy: channel.storagePolicy ?? .noMessageStored, eventKey: nil, changedAt: now))
    }

    /// What is wrong with the world now that all is done; `nil`: nothing.
    var fault: String? {
        for event in events {
            let serving = ledger.filter { $0.eventKey == event && $0.state != .deleted }
            guard serving.count == 1, let channelID = serving[0].channelID, serving[0].state == .active else {
                return "\(event) is served by \(serving)"
            }
            if apple[channelID] != serving[0].storagePolicy {
                return "\(event)'s channel is \(apple[channelID] as Any)"
            }
        }
        if ledger.contains(where: { $0.calledAt != nil }) { return "a call without an outcome" }
        let held = ledger.compactMap { $0.channelID }
        if Set(held).count != held.count { return "two rows hold one channel" }
        let kept = Set(ledger.filter { $0.state == .active || $0.state == .retiring }.compactMap(\.channelID))
        if !kept.isSubset(of: apple.keys) { return "kept, and not at Apple: \(kept.subtracting(apple.keys))" }
        // Without leave nothing is taken over or deleted; with it, nothing is left.
        let cleans = options.adopt || options.deleteUnmanaged && options.deleteBudget > 0
        let isStrange: (String) -> Bool = { id in
            cleans && !held.contains(id)
                || options.deleteBudget > 0 && ledger.contains { $0.channelID == id && $0.state == .deleted }
        }
        let leaked = apple.keys.filter(isStrange)
        return leaked.isEmpty ? nil : "leaked: \(leaked.sorted())"
    }

    var description: String {
        """
        \(options), \(readLimit) readings
        apple: \(apple)
        ledger: \(ledger.map { "\($0.channelID ?? "-") \($0.state) \($0.eventKey?.rawValue ?? "-")" })
        """
    }
}
