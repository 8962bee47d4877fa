internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// An example for each rule of the plan. Times are seconds before Apple's list was requested.
struct ReconciliationPlanTests {
    private static let listedAt = Date(timeIntervalSince1970: 100_000)
    private static let now = listedAt.addingTimeInterval(1)
    private static let apply = ReconciliationOptions(apply: true)

    private static func ago(_ seconds: TimeInterval) -> Date { listedAt.addingTimeInterval(-seconds) }

    private static func entry(
        _ channelID: String, _ state: Channel.State = .active, event: String? = "final", changed: TimeInterval = 100
    ) -> LedgerSnapshot.Entry {
        LedgerSnapshot.Entry(
            id: UUID(), channelID: channelID, state: state, storagePolicy: .noMessageStored,
            eventKey: event.flatMap(EventKey.init(rawValue:)), changedAt: ago(changed),
            deletionConfirmed: state == .deleted)
    }

    /// A creation whose outcome is not known. If `settleable` is negative, the call may still be running.
    private static func call(
        _ policy: StoragePolicy = .noMessageStored, began: TimeInterval = 60, settleable: TimeInterval = 50
    ) -> LedgerSnapshot.Entry {
        LedgerSnapshot.Entry(
            id: UUID(), channelID: nil, state: .creating, storagePolicy: policy,
            eventKey: EventKey(rawValue: "final"), changedAt: ago(began), calledAt: ago(began),
            settleableAt: ago(settleable))
    }

    /// An unmanaged channel. A list shortly before the calls did not contain it.
    private static func unmanaged(
        _ channelID: String, seen: TimeInterval = 40, _ policy: StoragePolicy? = nil
    ) -> UnmanagedChannel {
        UnmanagedChannel(channelID: channelID, firstSeenAt: ago(seen), lackedAt: ago(65), storagePolicy: policy)
    }

    /// The plan for a list with `listed` and the unmanaged channels.
    private static func plan(
        listed: [String] = [], _ entries: [LedgerSnapshot.Entry] = [], unmanaged: [UnmanagedChannel] = []
    ) -> ReconciliationPlan {
        ReconciliationPlan(
            ChannelListing(channelIDs: listed + unmanaged.map(\.channelID)),
            LedgerSnapshot(entries: entries, unmanaged: unmanaged, listedAt: listedAt))
    }

    private static func actions(
        _ plan: ReconciliationPlan, _ readings: [String: ReconciliationPlan.Reading] = [:],
        _ options: ReconciliationOptions = apply
    ) -> [ReconciliationAction] { plan.conclusions(readings, options, now: now).actions }

    // MARK: Listed and missing channels

    @Test func `channels in the ledger and in Apple's list match, and nothing is done`() {
        let plan = Self.plan(
            listed: ["a", "b", "c"], [Self.entry("a"), Self.entry("b", .retiring), Self.entry("c", .deleting)])
        #expect(plan.matched == 3)
        // A channel that is being deleted need not be listed.
        #expect(plan.expected.count == 2)
        #expect(plan.vanished.isEmpty)
        #expect(plan.questions(Self.apply, now: Self.now, limit: 500).isEmpty)
        #expect(Self.actions(plan).isEmpty)
    }

    @Test func `a channel that is not listed is read, and only Apple's answer makes it missing`() {
        let gone = Self.entry("gone")
        let retiring = Self.entry("retiring", .retiring)
        let plan = Self.plan(
            listed: ["here"],
            [Self.entry("here"), gone, retiring, Self.entry("silent"), Self.entry("not asked")])
        #expect(
            plan.questions(Self.apply, now: Self.now, limit: 500) == ["gone", "retiring", "silent", "not asked"])
        let (actions, alarm) = plan.conclusions(
            ["gone": .gone, "retiring": .gone, "silent": .unknown], Self.apply, now: Self.now)
        #expect(actions == [.markMissing(gone), .markMissing(retiring)])
        #expect(alarm == nil)
    }

    @Test func `a channel that became active after the list was requested need not be listed`() {
        let plan = Self.plan(listed: ["a"], [Self.entry("a"), Self.entry("new", changed: 0)])
        #expect(plan.expected.map(\.channelID) == ["a"])
        #expect(plan.vanished.isEmpty)
    }

    @Test func `if an existing channel is not listed the list proves no absence`() {
        let gone = Self.entry("gone")
        let call = Self.call()
        let plan = Self.plan(listed: ["here"], [Self.entry("here"), gone, Self.entry("hidden"), call])
        let (actions, alarm) = plan.conclusions(
            ["gone": .gone, "hidden": .exists(.noMessageStored)], Self.apply, now: Self.now)
        // Apple's answer about the channel `gone` counts. The call stays open, because only a complete list would prove
        // that it created nothing.
        #expect(actions == [.markMissing(gone)])
        #expect(alarm == .listIncomplete)
        let whole = plan.conclusions(["gone": .gone, "hidden": .unknown], Self.apply, now: Self.now)
        #expect(whole.actions == [.markMissing(gone), .reopen(call)])
        #expect(whole.alarm == nil)
    }

    @Test func `if all channels vanished at once there is an alarm, and no channel is read`() {
        let bound = Self.entry("a")
        let plan = Self.plan(
            [bound, Self.entry("b", event: nil), Self.call()], unmanaged: [Self.unmanaged("x", .noMessageStored)])
        #expect(plan.everythingVanished)
        var options = ReconciliationOptions(apply: true, adopt: true, deleteUnmanaged: true, grace: 0)
        #expect(plan.questions(options, now: Self.now, limit: 500).isEmpty)
        let (actions, alarm) = plan.conclusions(["a": .gone, "b": .gone], options, now: Self.now)
        // The plan only proposes to create the event's channel again. The other channel has no event, because it was
        // created by hand, so it is not created again.
        #expect(actions == [.recreate(bound)])
        #expect(alarm == .capabilityOff)

        options.recreate = true
        #expect(plan.questions(options, now: Self.now, limit: 500) == ["a", "b"])
        let forced = plan.conclusions(["a": .gone, "b": .gone], options, now: Self.now)
        #expect(forced.actions.count { $0.name == "mark-missing" } == 2)
        #expect(!forced.actions.contains { $0.name == "recreate" })
        #expect(forced.alarm == nil)
    }

    @Test func `a single known channel counts as all channels`() {
        let only = Self.entry("a")
        let alone = Self.plan([only])
        #expect(alone.everythingVanished)
        #expect(alone.questions(Self.apply, now: Self.now, limit: 500).isEmpty)
        let (actions, alarm) = alone.conclusions(["a": .gone], Self.apply, now: Self.now)
        #expect(actions == [.recreate(only)])
        #expect(alarm == .capabilityOff)
        let recreate = ReconciliationOptions(apply: true, recreate: true)
        #expect(alone.questions(recreate, now: Self.now, limit: 500) == ["a"])
        #expect(Self.actions(alone, ["a": .gone], recreate) == [.markMissing(only)])
        // Another known channel is listed, so the list is this app's, and the missing channel is replaced.
        let beside = Self.plan(listed: ["b"], [only, Self.entry("b")])
        #expect(!beside.everythingVanished)
        #expect(Self.actions(beside, ["a": .gone]) == [.markMissing(only)])
        #expect(!Self.plan([]).everythingVanished)
        // Apple refused a message to this channel by name, so the capability is on and the channel is gone.
        var refused = Self.entry("a")
        refused.doubtedAt = Self.now.addingTimeInterval(-1_000_000)
        #expect(!Self.plan([refused, Self.entry("b")]).everythingVanished)
    }

    @Test func `a missing channel that is listed again is restored`() {
        let missing = Self.entry("a", .missing)
        let plan = Self.plan(listed: ["a"], [missing])
        #expect(Self.actions(plan) == [.restore(missing)])
        #expect(plan.matched == 0)
        #expect(Self.actions(Self.plan([missing])).isEmpty)
    }

    @Test func `a channel deleted before the list was requested, but listed, is deleted again`() {
        let deleted = Self.entry("a", .deleted)
        let late = Self.entry("b", .deleted, changed: 0)
        let plan = Self.plan(listed: ["a", "b", "c"], [deleted, late, Self.entry("c", .deleting)])
        #expect(Self.actions(plan) == [.deleteAgain(deleted)])
    }

    // MARK: Creations without an answer

    @Test func `a channel that a running creation may have made is neither unmanaged nor changed`() {
        let before = Self.unmanaged("before", seen: 31, .noMessageStored)
        let plan = Self.plan(
            [Self.call(began: 30, settleable: -10)],
            unmanaged: [
                before, Self.unmanaged("at", seen: 30, .noMessageStored),
                // A channel of the other policy is not unmanaged either. The rule ignores policies: the policy of the
                // call is known, but that of the channel may not be.
                Self.unmanaged("after", seen: 5, .mostRecentMessageStored),
            ])
        #expect(plan.unmanaged == [before])
        let options = ReconciliationOptions(apply: true, deleteUnmanaged: true, grace: 0)
        #expect(Self.actions(plan, [:], options) == [.deleteUnmanaged(before)])
        let adopting = ReconciliationOptions(apply: true, adopt: true)
        #expect(Self.actions(plan, [:], adopting) == [.adopt(before)])
        // The creation may still be running, so it does not count as unanswered, and the list need not be read again.
        #expect(!plan.leavesUnanswered([]))
    }

    @Test func `an unanswered creation gets the first channel of its policy that was seen after its call`() {
        let call = Self.call(.mostRecentMessageStored, began: 60)
        let plan = Self.plan(
            [call],
            unmanaged: [
                Self.unmanaged("before", seen: 61, .mostRecentMessageStored),
                Self.unmanaged("other policy", seen: 40, .noMessageStored),
                Self.unmanaged("unread", seen: 40), Self.unmanaged("second", seen: 30, .mostRecentMessageStored),
            ])
        #expect(plan.questions(Self.apply, now: Self.now, limit: 500) == ["unread"])
        #expect(
            Self.actions(plan, ["unread": .exists(.mostRecentMessageStored)])
                == [
                    .reopen(call), .contest(Self.unmanaged("unread", seen: 40, .mostRecentMessageStored)),
                    .contest(Self.unmanaged("second", seen: 30, .mostRecentMessageStored)),
                ])
        #expect(
            Self.actions(plan, ["unread": .exists(.noMessageStored)])
                == [.settle(call, with: Self.unmanaged("second", seen: 30, .mostRecentMessageStored))])
    }

    @Test func `of two calls and two channels the earlier call gets the earlier channel`() {
        let early = Self.call(began: 60)
        let late = Self.call(began: 45)
        let first = Self.unmanaged("first", seen: 50, .noMessageStored)
        let second = Self.unmanaged("second", seen: 40, .noMessageStored)
        let plan = Self.plan([late, early], unmanaged: [first, second])
        #expect(Self.actions(plan) == [.settle(early, with: first), .settle(late, with: second)])
    }

    @Test func `of two calls and one channel the other call created nothing`() {
        let early = Self.call(began: 60)
        let late = Self.call(began: 55)
        let only = Self.unmanaged("only", .noMessageStored)
        #expect(
            Self.actions(Self.plan([early, late], unmanaged: [only])) == [.settle(early, with: only), .reopen(late)])
    }

    @Test func `a creation without a fitting channel is repeated`() {
        let call = Self.call()
        #expect(Self.actions(Self.plan([call])) == [.reopen(call)])
        let plan = Self.plan(
            [call],
            unmanaged: [Self.unmanaged("before", seen: 61), Self.unmanaged("other", .mostRecentMessageStored)])
        #expect(Self.actions(plan) == [.reopen(call)])
        // The channel was deleted between the list and the reading, so it belongs to no call.
        #expect(Self.actions(Self.plan([call], unmanaged: [Self.unmanaged("x")]), ["x": .gone]) == [.reopen(call)])
    }

    @Test func `a creation waits while the list cannot decide`() {
        let call = Self.call(began: 60, settleable: 0)
        #expect(Self.actions(Self.plan([call])) == [.reopen(call)])
        #expect(Self.actions(Self.plan([Self.call(began: 60, settleable: -0.001)])).isEmpty)
    }

    @Test func `a creation waits while a channel that may belong to it was not read`() {
        let plan = Self.plan([Self.call()], unmanaged: [Self.unmanaged("x")])
        #expect(Self.actions(plan).isEmpty)
        #expect(Self.actions(plan, ["x": .unknown]).isEmpty)
        #expect(plan.leavesUnanswered([]))
    }

    @Test func `a creation waits while a channel may belong to another running call, and the list is read again`() {
        let call = Self.call(began: 60)
        let underWay = Self.call(began: 30, settleable: -10)
        let plan = Self.plan([call, underWay], unmanaged: [Self.unmanaged("x", seen: 20, .noMessageStored)])
        #expect(Self.actions(plan).isEmpty)
        #expect(plan.leavesUnanswered([]) && !plan.leavesUnanswered([.reopen(call)]))
        // A channel of the other policy does not fit.
        let other = Self.plan([call, underWay], unmanaged: [Self.unmanaged("x", seen: 20, .mostRecentMessageStored)])
        #expect(Self.actions(other) == [.reopen(call)])
    }

    // MARK: Unmanaged channels

    @Test func `without options unmanaged channels are only reported`() {
        let channel = Self.unmanaged("x", seen: 90_000, .noMessageStored)
        let plan = Self.plan(unmanaged: [channel])
        #expect(plan.unmanaged == [channel])
        #expect(plan.questions(Self.apply, now: Self.now, limit: 500).isEmpty)
        #expect(Self.actions(plan).isEmpty)
    }

    @Test func `a channel that is now in the ledger, or no longer listed, is not unmanaged`() {
        let plan = ReconciliationPlan(
            ChannelListing(channelIDs: ["known"]),
            LedgerSnapshot(
                entries: [Self.entry("known", changed: 0)],
                unmanaged: [Self.unmanaged("known"), Self.unmanaged("unlisted")], listedAt: Self.listedAt))
        #expect(plan.unmanaged.isEmpty)
        let options = ReconciliationOptions(apply: true, deleteUnmanaged: true, grace: 0)
        #expect(Self.actions(plan, ["known": .exists(.noMessageStored)], options).isEmpty)
    }

    @Test func `an adoption needs the policy from Apple, and comes before a deletion`() {
        let options = ReconciliationOptions(apply: true, adopt: true, deleteUnmanaged: true, grace: 0)
        let plan = Self.plan(
            unmanaged: [
                Self.unmanaged("read"), Self.unmanaged("kept", .noMessageStored), Self.unmanaged("gone"),
                Self.unmanaged("silent"),
            ])
        #expect(plan.questions(options, now: Self.now, limit: 500) == ["read", "gone", "silent"])
        let readings: [String: ReconciliationPlan.Reading] = [
            "read": .exists(.mostRecentMessageStored), "gone": .gone, "silent": .unknown,
        ]
        #expect(
            Self.actions(plan, readings, options) == [
                .adopt(Self.unmanaged("read", .mostRecentMessageStored)),
                .adopt(Self.unmanaged("kept", .noMessageStored)),
            ])
    }

    @Test func `a deletion waits for the end of the grace period`() {
        let old = Self.unmanaged("old", seen: 599, .noMessageStored)
        let plan = Self.plan(unmanaged: [old, Self.unmanaged("young", seen: 598.999)])
        let options = ReconciliationOptions(apply: true, deleteUnmanaged: true, grace: 600)
        #expect(plan.questions(options, now: Self.now, limit: 500).isEmpty)
        #expect(Self.actions(plan, ["young": .exists(.noMessageStored)], options) == [.deleteUnmanaged(old)])
    }

    @Test func `one limit applies to all deletions of a run`() {
        let deleted = ["a", "b"].map { Self.entry($0, .deleted) }
        let unmanaged = ["x", "y", "z"].map { Self.unmanaged($0, .noMessageStored) }
        let plan = Self.plan(listed: ["a", "b"], deleted, unmanaged: unmanaged)
        func names(_ budget: Int) -> [String?] {
            let options = ReconciliationOptions(apply: true, deleteUnmanaged: true, grace: 0, deleteBudget: budget)
            return Self.actions(plan, [:], options).map(\.channelID)
        }
        #expect(names(0).isEmpty)
        #expect(names(1) == ["a"])
        #expect(names(3) == ["a", "b", "x"])
        #expect(names(100) == ["a", "b", "x", "y", "z"])
    }

    @Test func `at most the allowed number of channels are read, missing ones first`() {
        let plan = Self.plan(
            listed: ["here"], [Self.entry("here"), Self.entry("gone"), Self.entry("lost")],
            unmanaged: [Self.unmanaged("x"), Self.unmanaged("y")])
        let options = ReconciliationOptions(apply: true, adopt: true)
        #expect(plan.questions(options, now: Self.now, limit: 3) == ["gone", "lost", "x"])
        #expect(plan.questions(options, now: Self.now, limit: 0).isEmpty)
    }

    @Test func `a dry run shows the plan without reading policies`() {
        let channel = Self.unmanaged("x")
        let plan = Self.plan(unmanaged: [channel])
        let adopting = ReconciliationOptions(apply: false, adopt: true)
        #expect(plan.questions(adopting, now: Self.now, limit: 500).isEmpty)
        #expect(Self.actions(plan, [:], adopting) == [.adopt(channel)])
        let deleting = ReconciliationOptions(apply: false, deleteUnmanaged: true, grace: 0)
        #expect(plan.questions(deleting, now: Self.now, limit: 500).isEmpty)
        #expect(Self.actions(plan, [:], deleting) == [.deleteUnmanaged(channel)])
    }
}
