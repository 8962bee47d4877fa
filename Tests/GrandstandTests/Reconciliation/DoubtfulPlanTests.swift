internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// An example for each rule about what a single list or refusal does not prove. Times are seconds before Apple's list
/// was requested.
struct DoubtfulPlanTests {
    private static let listedAt = Date(timeIntervalSince1970: 1_000_000)
    private static let now = listedAt.addingTimeInterval(1)
    private static let apply = ReconciliationOptions(apply: true)

    private static func ago(_ seconds: TimeInterval) -> Date { listedAt.addingTimeInterval(-seconds) }

    private static func entry(
        _ channelID: String, _ state: Channel.State = .active, doubted: TimeInterval? = nil, confirmed: Bool = false,
        wanted: Bool = false
    ) -> LedgerSnapshot.Entry {
        LedgerSnapshot.Entry(
            id: UUID(), channelID: channelID, state: state, storagePolicy: .noMessageStored,
            eventKey: EventKey(rawValue: "final"), changedAt: ago(100), doubtedAt: doubted.map(ago),
            deletionConfirmed: confirmed, isWanted: wanted)
    }

    private static func call(began: TimeInterval = 60, settleable: TimeInterval = 50) -> LedgerSnapshot.Entry {
        LedgerSnapshot.Entry(
            id: UUID(), channelID: nil, state: .creating, storagePolicy: .noMessageStored,
            eventKey: EventKey(rawValue: "final"), changedAt: ago(began), calledAt: ago(began),
            settleableAt: ago(settleable))
    }

    private static func unmanaged(
        _ channelID: String, seen: TimeInterval = 40, lacked: TimeInterval?, contested: Bool = false
    ) -> UnmanagedChannel {
        UnmanagedChannel(
            channelID: channelID, firstSeenAt: ago(seen), lackedAt: lacked.map(ago), storagePolicy: .noMessageStored,
            isContested: contested)
    }

    private static func plan(
        listed: [String] = [], _ entries: [LedgerSnapshot.Entry] = [], _ unmanaged: [UnmanagedChannel] = []
    ) -> ReconciliationPlan {
        ReconciliationPlan(
            ChannelListing(channelIDs: listed + unmanaged.map(\.channelID)),
            LedgerSnapshot(entries: entries, unmanaged: unmanaged, listedAt: listedAt))
    }

    // MARK: Channels of unanswered creations

    @Test(arguments: [nil, 120.001])
    func `without a list in the minute before the call nothing is adopted, there is an alarm, and the call is repeated`(
        _ lacked: TimeInterval?
    ) {
        let call = Self.call()
        let channel = Self.unmanaged("theirs?", lacked: lacked)
        let (actions, alarm) = Self.plan([call], [channel]).conclusions([:], Self.apply, now: Self.now)
        #expect(actions == [.reopen(call), .contest(channel)])
        #expect(alarm == .ambiguousCreation)
        let fresh = Self.unmanaged("ours", lacked: 120)
        #expect(
            Self.plan([call], [fresh]).conclusions([:], Self.apply, now: Self.now).actions.map(\.name) == ["settle"])
    }

    @Test func `a channel that was missing in a list after the call does not belong to the call`() {
        let call = Self.call(began: 60, settleable: 50)
        let later = Self.unmanaged("later", lacked: 50)
        let (actions, alarm) = Self.plan([call], [later]).conclusions([:], Self.apply, now: Self.now)
        #expect(actions == [.reopen(call)])
        #expect(alarm == nil)
    }

    @Test func `if there are more channels than calls that can have created them, none is adopted`() {
        let early = Self.call(began: 60, settleable: 50)
        let late = Self.call(began: 30, settleable: 20)
        // Two calls and two channels. Both channels came after the early call had ended.
        let channels = [Self.unmanaged("a", seen: 20, lacked: 45), Self.unmanaged("b", seen: 20, lacked: 45)]
        let (actions, alarm) = Self.plan([early, late], channels).conclusions([:], Self.apply, now: Self.now)
        #expect(actions == [.reopen(early), .reopen(late), .contest(channels[0]), .contest(channels[1])])
        #expect(alarm == .ambiguousCreation)
    }

    @Test func `a call leaves a channel to the only other call that can have created it`() {
        let early = Self.call(began: 60, settleable: 50)
        let late = Self.call(began: 40, settleable: 30)
        // The channel `either` may belong to either call. The channel `early` was seen before the late call began, so
        // it can only belong to the early call.
        let either = Self.unmanaged("either", seen: 39, lacked: 55)
        let earlys = Self.unmanaged("early", seen: 41, lacked: 55)
        let plan = Self.plan([early, late], [either, earlys])
        #expect(
            Set(plan.conclusions([:], Self.apply, now: Self.now).actions)
                == [.settle(early, with: earlys), .settle(late, with: either)])
    }

    @Test func `adopting and deleting by people ends the uncertainty`() {
        let call = Self.call()
        let channel = Self.unmanaged("theirs?", seen: 40, lacked: nil)
        for (options, name) in [
            (ReconciliationOptions(apply: true, adopt: true), "adopt"),
            (ReconciliationOptions(apply: true, deleteUnmanaged: true, grace: 0), "delete-unmanaged"),
        ] {
            let (actions, alarm) = Self.plan([call], [channel]).conclusions([:], options, now: Self.now)
            #expect(actions.map(\.name) == ["reopen", name])
            #expect(alarm == nil)
        }
    }

    @Test func `the alarm lasts a day`() {
        let young = Self.plan([], [Self.unmanaged("x", seen: 86_000, lacked: nil, contested: true)])
        let old = Self.plan([], [Self.unmanaged("x", seen: 86_400, lacked: nil, contested: true)])
        #expect(young.conclusions([:], Self.apply, now: Self.now).alarm == .ambiguousCreation)
        #expect(old.conclusions([:], Self.apply, now: Self.now).alarm == nil)
    }

    @Test func `a call does not wait forever for a complete list or a readable channel`() {
        let hidden = Self.entry("hidden")
        let call = Self.call(began: 200, settleable: 60)
        let young = Self.call(began: 200, settleable: 59)
        let incomplete = Self.plan(listed: ["here"], [Self.entry("here"), hidden, call, young])
            .conclusions(["hidden": .exists(.noMessageStored)], Self.apply, now: Self.now)
        #expect(incomplete.actions == [.reopen(call)])
        #expect(incomplete.alarm == .listIncomplete)
        var unread = Self.unmanaged("unread", lacked: 210)
        unread.storagePolicy = nil
        let silent = Self.plan([call], [unread]).conclusions(["unread": .unknown], Self.apply, now: Self.now)
        #expect(silent.actions == [.reopen(call), .contest(unread)])
    }

    // MARK: Refused channels

    @Test func `a refused channel is read, and confirmed if Apple has it`() {
        let doubted = Self.entry("a", doubted: 1)
        let plan = Self.plan(listed: ["a", "b"], [doubted, Self.entry("b"), Self.entry("late", doubted: 0)])
        #expect(plan.questions(Self.apply, now: Self.now, limit: 9) == ["late", "a"])
        for (reading, isConfirmed) in [
            (ReconciliationPlan.Reading.exists(.noMessageStored), true), (.gone, true), (.unknown, false),
        ] {
            let (actions, alarm) = plan.conclusions(["a": reading], Self.apply, now: Self.now)
            #expect(actions == (isConfirmed ? [.confirm(doubted)] : []), "\(reading)")
            #expect(alarm == nil)
        }
    }

    @Test
    func
        `a refused channel that Apple has but does not list is confirmed, and one that Apple does not have is missing`()
    {
        let doubted = Self.entry("a", doubted: 1)
        let plan = Self.plan(listed: ["b"], [doubted, Self.entry("b")])
        let hidden = plan.conclusions(["a": .exists(.noMessageStored)], Self.apply, now: Self.now)
        #expect(hidden.actions == [.confirm(doubted)])
        #expect(hidden.alarm == .listIncomplete)
        #expect(plan.conclusions(["a": .gone], Self.apply, now: Self.now).actions == [.markMissing(doubted)])
    }

    // MARK: Channels that are listed again

    @Test func `only a channel whose deletion Apple confirmed is deleted again`() {
        let asked = Self.entry("asked", .deleted, confirmed: true)
        let lost = Self.entry("lost", .deleted)
        let wanted = Self.entry("wanted", .deleted, wanted: true)
        let plan = Self.plan(listed: ["asked", "lost", "wanted"], [asked, lost, wanted])
        let all = ReconciliationOptions(apply: true, adopt: true, deleteUnmanaged: true, recreate: true, grace: 0)
        for options in [Self.apply, all] {
            #expect(
                plan.conclusions([:], options, now: Self.now).actions
                    == [.deleteAgain(asked), .release(lost), .restore(wanted)])
        }
    }

    @Test func `of two channels that served one event the newer serves it again`() {
        let older = Self.entry("older", .deleted, wanted: true)
        let newer = Self.entry("newer", .deleted, wanted: true)
        let plan = Self.plan(listed: ["older", "newer"], [older, newer])
        #expect(
            plan.conclusions([:], Self.apply, now: Self.now).actions == [.release(older), .restore(newer)])
    }
}
