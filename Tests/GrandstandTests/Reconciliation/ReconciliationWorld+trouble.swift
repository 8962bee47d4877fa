internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

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
