internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Testing

/// Invariants of every lane under acceptances, withdrawals, temporary refusals and lost answers. A failure names its
/// seed.
struct LanePropertyTests {
    @Test func `a lane does what the model derives from the list of requests`() throws {
        var seen: Set<String> = []
        for seed in UInt64(1)...4_000 {
            var history = LaneHistory(seed: seed)
            history.run(steps: 60)
            try #require(history.fault == nil, "seed \(seed): \(history.fault ?? "")")
            seen.formUnion(history.seen)
        }
        // Histories in which some case never occurred would prove nothing about it.
        #expect(
            seen
                == ["repeated", "another", "carried", "stale", "withdrawn", "refused", "reopened", "changed", "moved"])
    }

    @Test(arguments: Mutant.allCases) func `every deliberately wrong lane is detected`(_ mutant: Mutant) {
        let isFound = (UInt64(1)...1_000).contains { seed in
            var history = LaneHistory(seed: seed, verbs: mutant.verbs)
            history.run(steps: 60)
            return history.fault != nil
        }
        #expect(isFound)
    }

    enum Mutant: CaseIterable {
        case nothingGivesWay, oldAlertsRing, sameTimestamp, forgetsLease, retriesAtOnce, anyReplicaSettles
        case newRequestForRepetition, endIsWithdrawnInPart, keepsWithdrawnContent, dueWithoutWork, ignoresThrottling
        case slowClock, leavesInterval, forgetsWhatMayHaveLeft, keepsOldChannel, cancelsWithOldChannel,
            repeatsToNewChannel, oldExpirations, ringsAgain

        var verbs: LaneVerbs {
            var verbs = LaneVerbs()
            switch self {
            case .nothingGivesWay:
                verbs.accept = { lane, message, now in
                    let before = lane.messages
                    lane.accept(message, at: now)
                    for index in before.indices { lane.messages[index].state = before[index].state }
                }
                verbs.take = { lane, claim, requestID in
                    guard let head = lane.head else { return nil }
                    var only = lane
                    only.messages = [head]
                    let taken = only.take(claim, requestID: requestID)
                    if let index = lane.messages.firstIndex(where: { $0.id == head.id }) {
                        lane.messages[index] = only.messages[0]
                    }
                    lane[.channel] = only[.channel]
                    return taken
                }
            case .oldAlertsRing:
                verbs.take = { lane, claim, requestID in
                    var taken = lane.take(claim, requestID: requestID)
                    if taken?.reason == "the alert was too old to ring" { taken?.hasAlert = true }
                    return taken
                }
            case .sameTimestamp:
                verbs.take = { lane, claim, requestID in
                    let last = lane[.channel].lastTimestamp
                    let taken = lane.take(claim, requestID: requestID)
                    lane[.channel].lastTimestamp = last
                    return taken
                }
            case .forgetsLease:
                verbs.take = { lane, claim, requestID in
                    lane[.channel].lease = nil
                    return lane.take(claim, requestID: requestID)
                }
            case .retriesAtOnce:
                verbs.settle = { lane, settlement, now in
                    lane.settle(settlement, at: now)
                    for index in lane.messages.indices { lane.messages[index].nextAttemptAt = nil }
                    lane[.channel].readyAt = nil
                }
            case .anyReplicaSettles:
                verbs.settle = { lane, settlement, now in
                    var stolen = settlement
                    stolen.replica = lane[.channel].lease?.replica ?? settlement.replica
                    lane.settle(stolen, at: now)
                }
            case .newRequestForRepetition:
                verbs.take = { lane, claim, requestID in
                    var taken = lane.take(claim, requestID: requestID)
                    if taken?.attempts ?? 0 > 1 { taken?.requestID = requestID() }
                    return taken
                }
            case .endIsWithdrawnInPart:
                verbs.withdraw = { lane, broadcast, now in
                    let fenced = lane.fencedAt
                    let isDone = lane.withdraw(broadcast, at: now)
                    lane.fencedAt = fenced
                    return isDone
                }
            case .keepsWithdrawnContent:
                verbs.withdraw = { lane, broadcast, now in
                    let newest = lane.newest
                    let isDone = lane.withdraw(broadcast, at: now)
                    lane.newest = newest
                    return isDone
                }
            case .dueWithoutWork: verbs.due = { lane, now in lane.dueTime(at: now) ?? now }
            case .ignoresThrottling:
                verbs.settle = { lane, settlement, now in
                    let ready = lane[.channel].readyAt
                    lane.settle(settlement, at: now)
                    lane[.channel].readyAt = ready
                }
            case .forgetsWhatMayHaveLeft:
                verbs.settle = { lane, settlement, now in
                    var refused = settlement
                    refused.mayHaveBeenProcessed = false
                    lane.settle(refused, at: now)
                }
            case .slowClock:
                verbs.take = { lane, claim, requestID in
                    var early = claim
                    early.at = claim.at - 40
                    return lane.take(early, requestID: requestID)
                }
            case .keepsOldChannel:
                verbs.change = { lane, audience, now in
                    let channel = lane.channel
                    lane.change(audience, at: now)
                    lane.channel = channel
                }
            case .cancelsWithOldChannel:
                verbs.change = { lane, audience, now in
                    lane.change(audience, at: now)
                    lane.close(at: now)
                    lane.reopen(closedAt: now)
                }
            case .repeatsToNewChannel:
                verbs.connect = { lane, channel in
                    lane.connect(channel)
                    for index in lane.messages.indices { lane.messages[index].channelID = channel.channelID }
                }
            case .oldExpirations: verbs.judge = { _, _ in }
            case .ringsAgain:
                verbs.take = { lane, claim, requestID in
                    let before = lane
                    for index in lane.messages.indices {
                        lane.messages[index].unprocessed = lane.messages[index].attempts
                    }
                    guard let taken = lane.take(claim, requestID: requestID) else {
                        lane = before
                        return nil
                    }
                    for index in lane.messages.indices {
                        lane.messages[index].unprocessed = before.messages[index].unprocessed
                    }
                    return taken
                }
            case .leavesInterval:
                verbs.take = { lane, claim, requestID in
                    var hasty = claim
                    hasty.laneInterval = 0
                    return lane.take(hasty, requestID: requestID)
                }
            }
            return verbs
        }
    }
}
