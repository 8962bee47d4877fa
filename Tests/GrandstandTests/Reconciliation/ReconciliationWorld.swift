internal import APNsWire
internal import FoundationEssentials

@testable internal import Grandstand

/// Apple, the ledger, and the workers that carry out the ledger's intents. In a round with trouble, other systems also
/// create and delete the app's channels, creations get no answer, and messages are refused. In some of the rounds with
/// trouble, Apple neither lists nor knows one of the ledger's channels. Otherwise Apple answers correctly.
struct ReconciliationWorld: CustomStringConvertible {
    /// The number of rounds without a change after which nothing more will happen. Together these rounds take longer
    /// than any grace period and any call.
    static let quietRounds = 4

    var apple: [String: StoragePolicy] = [:]
    var ledger: [Channel] = []
    var sights: [String: UnmanagedChannel] = [:]
    var events: Set<EventKey> = []
    var options: ReconciliationOptions
    var readLimit: Int
    var now = sceneTime
    var random: SplitMix64
    /// The names of the actions so far.
    var seen: Set<String> = []
    var made = 0
    /// The time when the last list was requested.
    var askedAt: Date?
    /// The channels that others created, with their times.
    var others: [String: (at: Date, policy: StoragePolicy)] = [:]
    /// Calls without an answer, and their outcome. `decidedAt` is set when the ledger has decided.
    var calls: [UUID: (at: Date, policy: StoragePolicy, made: String?, decidedAt: Date?)] = [:]
    /// The first mistake.
    var wrong: String?
    /// The number of rounds with trouble.
    var troubles = 0

    private static let troubledRounds = 5

    init(seed: UInt64, isTroubled: Bool = false) {
        random = SplitMix64(state: seed)
        let deletes = random.chance(0.7)
        options = ReconciliationOptions(
            .init(apply: true, adopt: random.chance(0.3), deleteUnmanaged: deletes, recreate: random.chance(0.2)),
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
            let policy = random.policy()
            let channelID = make(policy)
            others[channelID] = (ago(900...2_000), policy)
            if random.chance(0.5) { sight(channelID, at: ago(0...900)) }
        }
        if isTroubled { troubles = Self.troubledRounds }
    }

    private mutating func ago(_ seconds: ClosedRange<Int>) -> Date {
        now.addingTimeInterval(-Double(Int.random(in: seconds, using: &random)))
    }

    mutating func make(_ policy: StoragePolicy) -> String {
        made += 1
        apple["channel-\(made)"] = policy
        return "channel-\(made)"
    }

    private mutating func sight(_ channelID: String, at moment: Date, lackedAt: Date? = nil) {
        sights[channelID] = UnmanagedChannel(channelID: channelID, firstSeenAt: moment, lackedAt: lackedAt)
    }

    private mutating func addRow(_ state: Channel.State, _ key: EventKey?, _ vanishing: Double) {
        var entry = Channel(
            id: random.uuid(), state: state, storagePolicy: random.policy(), eventKey: key, changedAt: ago(1...900))
        entry.deletionConfirmed = state == .deleted && random.chance(0.7)
        if state != .creating {
            entry.channelID = make(entry.storagePolicy)
            let isThere = state == .missing || state == .deleted ? random.chance(0.3) : !random.chance(vanishing)
            if !isThere, let channelID = entry.channelID { apple[channelID] = nil }
        } else if key == nil || random.chance(0.7) {
            // A call without an answer. It may still be running, and may have created a channel. That channel may
            // already be recorded as seen.
            let calledAt = ago(1...900)
            entry.calledAt = calledAt
            entry.settleableAt = random.chance(0.7) ? calledAt.addingTimeInterval(1) : now.addingTimeInterval(90)
            calls[entry.id] = (calledAt, entry.storagePolicy, nil, nil)
            if random.chance(0.5) {
                let channelID = make(entry.storagePolicy)
                calls[entry.id]?.made = channelID
                if random.chance(0.5) {
                    let share = random.pick([0, 0.5])
                    sight(
                        channelID, at: calledAt.addingTimeInterval(share * now.timeIntervalSince(calledAt)),
                        lackedAt: random.chance(0.5) ? calledAt.addingTimeInterval(-10) : nil)
                }
            }
        }
        ledger.append(entry)
    }

    /// The number of rounds that are enough. There may be more channels than one round may handle: the limits on
    /// deletions and readings spread the work over several rounds.
    var rounds: Int {
        let channels = made + ledger.count
        let slowest = max(1, min(options.deleteBudget == 0 ? .max : options.deleteBudget, readLimit))
        return 6 + troubles + 2 * (channels + slowest - 1) / slowest + Self.quietRounds
    }

    /// One round of four minutes.
    ///
    /// - Returns: whether nothing was done.
    mutating func reconcile() -> Bool {
        var worked = work()
        var forgotten: String?
        if troubles > 0 {
            troubles -= 1
            worked = true
            trouble()
            // In some rounds, Apple neither lists nor knows one of our channels.
            if random.chance(0.3) {
                forgotten = ledger.filter { $0.state == .active }.compactMap(\.channelID).randomElement(using: &random)
            }
        }
        let listedAt = now
        now += 1
        let listing = ChannelListing(channelIDs: apple.keys.filter { $0 != forgotten }.sorted())
        let plan = observe(listing, listedAt: listedAt)
        var readings: [String: ReconciliationPlan.Reading] = [:]
        for channelID in plan.singleReads(options, now: now, limit: readLimit) {
            let policy = channelID == forgotten ? nil : apple[channelID]
            readings[channelID] = policy.map(ReconciliationPlan.Reading.exists) ?? .gone
        }
        let (actions, alarm) = plan.conclusions(readings, options, now: now)
        now += 1
        seen.formUnion(actions.map(\.name.rawValue))
        if alarm == .capabilityOff {
            // A person has checked that the channels are gone, and confirms it.
            options.recreate = true
        } else {
            for action in actions { carryOut(action) }
        }
        now += 240
        // An alarm about channels of other systems stays until a person acts, so it may remain.
        return !worked && actions.isEmpty && (alarm == nil || alarm == .ambiguousCreation)
    }

    // MARK: Work

    private mutating func observe(_ listing: ChannelListing, listedAt: Date) -> ReconciliationPlan {
        let known = Set(ledger.compactMap(\.channelID))
        let listed = Set(listing.channelIDs)
        sights = sights.filter { listed.contains($0.key) && !known.contains($0.key) }
        let lackedAt = askedAt
        askedAt = listedAt
        for channelID in listing.channelIDs where !known.contains(channelID) && sights[channelID] == nil {
            sights[channelID] = UnmanagedChannel(channelID: channelID, firstSeenAt: now, lackedAt: lackedAt)
        }
        let entries = ledger.filter { $0.state != .deleted || $0.channelID.map(listed.contains) == true }.map { entry in
            var entry = entry
            entry.isWanted =
                entry.state == .deleted && entry.eventKey.map(events.contains) == true
                && !ledger.contains { other in
                    other.eventKey == entry.eventKey
                        && (other.state == .active || other.state == .missing
                            || other.state == .creating && other.calledAt != nil)
                }
            return entry
        }
        return ReconciliationPlan(
            listing, entries,
            unmanaged: sights.values.sorted { ($0.firstSeenAt, $0.channelID) < ($1.firstSeenAt, $1.channelID) },
            listedAt: listedAt)
    }

    /// The ledger's workers: open intents, deletions, replacements.
    private mutating func work() -> Bool {
        var worked = false
        for index in ledger.indices {
            var entry = ledger[index]
            switch entry.state {
            case .creating where entry.calledAt == nil:
                if troubles > 0, random.chance(0.5) { continue }
                entry.channelID = make(entry.storagePolicy)
                entry.state = .active
            case .deleting:
                if let channelID = entry.channelID { apple[channelID] = nil }
                entry.state = .deleted
                entry.deletionConfirmed = true
            case .missing where entry.eventKey != nil:
                entry.state = .deleted
                ledger.append(
                    Channel(
                        id: random.uuid(), state: .creating, storagePolicy: entry.storagePolicy,
                        eventKey: entry.eventKey, changedAt: now))
            default: continue
            }
            entry.changedAt = now
            ledger[index] = entry
            worked = true
        }
        return worked
    }

    private mutating func carryOut(_ action: ReconciliationAction) {
        switch (action.name, action.entry, action.unmanaged) {
        case (.markMissing, let entry?, _):
            change(entry) { row in
                row.state = row.state == .active ? .missing : .deleted
                row.doubtedAt = nil
            }
        case (.restore, let entry?, _):
            if entry.state == .deleted {
                for index in ledger.indices
                where ledger[index].eventKey == entry.eventKey && ledger[index].state == .creating {
                    ledger[index].state = .deleted
                }
            }
            change(entry) { $0.state = .active }
        case (.confirm, let entry?, _): change(entry) { $0.doubtedAt = nil }
        case (.release, let entry?, _):
            if let channelID = entry.channelID {
                sights[channelID] = UnmanagedChannel(channelID: channelID, firstSeenAt: now)
            }
            change(entry) { $0.channelID = nil }
        case (.contest, _, let channel?): sights[channel.channelID]?.isContested = true
        case (.deleteAgain, let entry?, _):
            if !entry.deletionConfirmed { wrong = wrong ?? "deletes \(entry.channelID ?? "") unasked" }
            change(entry) { $0.state = .deleting }
        case (.reopen, let entry?, _):
            calls[entry.id]?.decidedAt = now
            change(entry) { row in
                row.calledAt = nil
                row.settleableAt = nil
                if row.eventKey == nil { row.state = .deleted }
            }
        case (.settle, let entry?, let channel?):
            calls[entry.id]?.decidedAt = now
            if others[channel.channelID] != nil, !isIndistinguishable(channel.channelID) {
                wrong = wrong ?? "\(channel.channelID) is others', and was given to \(entry.eventKey?.rawValue ?? "-")"
            }
            change(entry) { row in
                row.calledAt = nil
                row.settleableAt = nil
                row.channelID = channel.channelID
                row.state = .active
            }
        case (.adopt, _, let channel?): takeOver(channel, as: .active)
        case (.deleteUnmanaged, _, let channel?): takeOver(channel, as: .deleting)
        default: break
        }
    }

    private mutating func change(_ entry: Channel, _ body: (inout Channel) -> Void) {
        guard let index = ledger.firstIndex(where: { $0.id == entry.id }) else { return }
        body(&ledger[index])
        ledger[index].changedAt = now
    }

    private mutating func takeOver(_ channel: UnmanagedChannel, as state: Channel.State) {
        ledger.append(
            Channel(
                id: random.uuid(), channelID: channel.channelID, state: state,
                storagePolicy: channel.storagePolicy ?? .noMessageStored, eventKey: nil, changedAt: now))
    }

    /// The mistake in the final state; `nil`: there is none.
    var fault: String? {
        if let wrong { return wrong }
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
        // Without permission nothing is adopted or deleted. With it, no unmanaged channel is left.
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

/// Actions of other systems, and faults.
extension ReconciliationWorld {
    /// Four minutes in which other systems are active and calls fail.
    mutating func trouble() {
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let policy = random.policy()
            others[make(policy)] = (now, policy)
            now += 1
        }
        if random.chance(0.3), let victim = others.keys.sorted().randomElement(using: &random) { apple[victim] = nil }
        // The list may be requested shortly before a creation, or long before it.
        if random.chance(0.7) { witness() }
        now += random.pick([0, 5, 59, 61])
        for index in ledger.indices where ledger[index].state == .creating && ledger[index].calledAt == nil {
            if random.chance(0.7) { call(index) }
        }
        if random.chance(0.3) {
            now += 1
            let policy = random.policy()
            others[make(policy)] = (now, policy)
        }
        // APNs refuses a message because of the channel, rightly or wrongly.
        for index in ledger.indices where ledger[index].state == .active && random.chance(0.3) {
            ledger[index].doubtedAt = now
            if random.chance(0.4), let channelID = ledger[index].channelID { apple[channelID] = nil }
        }
        now += 3
    }

    private mutating func witness() {
        let lackedAt = askedAt
        askedAt = now
        now += 1
        let known = Set(ledger.compactMap(\.channelID))
        for channelID in apple.keys.sorted() where !known.contains(channelID) && sights[channelID] == nil {
            sights[channelID] = UnmanagedChannel(channelID: channelID, firstSeenAt: now, lackedAt: lackedAt)
        }
    }

    /// A creation without an answer. It may have created a channel.
    private mutating func call(_ index: Int) {
        let entry = ledger[index]
        now += 1
        calls[entry.id] = (now, entry.storagePolicy, random.chance(0.5) ? make(entry.storagePolicy) : nil, nil)
        ledger[index].calledAt = now
        ledger[index].settleableAt = now.addingTimeInterval(2)
    }

    /// Whether a channel of another system may look exactly like the channel of a call. This is so if the call created
    /// nothing and has the policy of the channel, and the channel was created at most a minute before the call and not
    /// after the ledger's decision about the call. A list in the minute before the call may then lack the channel, as
    /// it lacks a channel that the call creates. Nothing that Apple returns shows the difference.
    func isIndistinguishable(_ channelID: String) -> Bool {
        guard let (born, policy) = others[channelID] else { return true }
        return calls.values.contains { call in
            call.policy == policy && call.made == nil && call.at.addingTimeInterval(-60) <= born
                && born <= call.decidedAt ?? .distantFuture
        }
    }
}

/// SplitMix64, so that each seed is a repeatable case.
struct SplitMix64: RandomNumberGenerator {
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

/// The time when every scene's list is requested, and when every world begins.
let sceneTime = Date(timeIntervalSince1970: 1_000_000)

extension Channel {
    /// A channel of the ledger with what a reconciliation looks at.
    init(
        id: UUID = UUID(), channelID: String? = nil, state: State, storagePolicy: StoragePolicy, eventKey: EventKey?,
        changedAt: Date
    ) {
        guard let bundleID = BundleID(rawValue: "com.example") else { preconditionFailure("not a bundle ID") }
        self.init(
            id: id, bundleID: bundleID, environment: .production, channelID: channelID, storagePolicy: storagePolicy,
            state: state, eventKey: eventKey, attempts: 0, createdAt: changedAt, changedAt: changedAt)
    }
}
