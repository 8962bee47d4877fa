internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import Testing

@testable internal import Grandstand

/// Examples of the plan's rules; ReconciliationPropertyTests has its invariants. Times are seconds before Apple's list
/// was requested.
struct ReconciliationPlanTests {
    let listedAt = Date(timeIntervalSince1970: 1_000_000)
    let apply = ReconciliationOptions(.init(apply: true))

    private func ago(_ seconds: TimeInterval) -> Date { listedAt.addingTimeInterval(-seconds) }

    func entry(
        _ channelID: String, _ state: Channel.State = .active, event: String? = "final", changed: TimeInterval = 100,
        doubted: TimeInterval? = nil, confirmed: Bool = false, wanted: Bool = false
    ) -> Channel {
        var entry = Channel(
            channelID: channelID, state: state, storagePolicy: .noMessageStored,
            eventKey: event.flatMap(EventKey.init(rawValue:)), changedAt: ago(changed))
        (entry.doubtedAt, entry.deletionConfirmed, entry.isWanted) = (doubted.map(ago), confirmed, wanted)
        return entry
    }

    /// A creation whose outcome is not known. If `settleable` is negative, the call may still be running.
    func call(
        _ policy: StoragePolicy = .noMessageStored, began: TimeInterval = 60, settleable: TimeInterval = 50
    ) -> Channel {
        var call = Channel(
            state: .creating, storagePolicy: policy, eventKey: EventKey(rawValue: "final"), changedAt: ago(began))
        (call.calledAt, call.settleableAt) = (ago(began), ago(settleable))
        return call
    }

    /// An unmanaged channel. By default, a list shortly before the calls did not contain it.
    func unmanaged(
        _ channelID: String, _ policy: StoragePolicy? = .noMessageStored, seen: TimeInterval = 40,
        lacked: TimeInterval? = 65, contested: Bool = false
    ) -> UnmanagedChannel {
        UnmanagedChannel(
            channelID: channelID, firstSeenAt: ago(seen), lackedAt: lacked.map(ago), storagePolicy: policy,
            isContested: contested)
    }

    /// The plan for a list with `listed` and the unmanaged channels.
    func plan(
        listed: [String] = [], _ entries: [Channel] = [], _ unmanaged: [UnmanagedChannel] = []
    ) -> ReconciliationPlan {
        ReconciliationPlan(
            ChannelListing(channelIDs: listed + unmanaged.map(\.channelID)), entries, unmanaged: unmanaged,
            listedAt: listedAt)
    }

    func conclusions(
        _ plan: ReconciliationPlan, _ readings: [String: ReconciliationPlan.Reading] = [:],
        _ options: ReconciliationOptions? = nil
    ) -> (actions: [ReconciliationAction], alarm: Contract.ReconciliationAlarm?) {
        plan.conclusions(readings, options ?? apply, now: listedAt.addingTimeInterval(1))
    }

    func questions(_ plan: ReconciliationPlan, _ options: ReconciliationOptions? = nil, limit: Int = 500) -> [String] {
        plan.singleReads(options ?? apply, now: listedAt.addingTimeInterval(1), limit: limit)
    }

    // MARK: Listed and missing channels

    @Test func `a call does not wait forever for a complete list`() {
        let (late, young) = (call(began: 200, settleable: 60), call(began: 200, settleable: 59))
        let plan = plan(listed: ["here"], [entry("here"), entry("hidden"), late, young])
        #expect(conclusions(plan, ["hidden": .exists(.noMessageStored)]).actions == [.init(.reopen, late)])
    }

    @Test func `if an existing channel is not listed the list proves no absence`() {
        let (gone, call) = (entry("gone"), call())
        let plan = plan(listed: ["here"], [entry("here"), gone, entry("hidden"), call])
        let (actions, alarm) = conclusions(plan, ["gone": .gone, "hidden": .exists(.noMessageStored)])
        // Apple's answer about the channel `gone` counts. The call stays open, because only a complete list would prove
        // that it created nothing.
        #expect(actions == [.init(.markMissing, gone)])
        #expect(alarm == .listIncomplete)
        let whole = conclusions(plan, ["gone": .gone])
        #expect(whole.actions == [.init(.markMissing, gone), .init(.reopen, call)])
        #expect(whole.alarm == nil)
    }

    @Test func `if all channels vanished at once there is an alarm, and no channel is read`() {
        let bound = entry("a")
        let plan = plan([bound, entry("b", event: nil), call()], [unmanaged("x")])
        #expect(plan.everythingVanished)
        var options = ReconciliationOptions(.init(apply: true, adopt: true, deleteUnmanaged: true), grace: 0)
        #expect(questions(plan, options).isEmpty)
        let (actions, alarm) = conclusions(plan, ["a": .gone, "b": .gone], options)
        // The plan only proposes to create the event's channel again. The other channel has no event, because it was
        // created by hand, so it is not created again.
        #expect(actions == [.init(.recreate, bound)])
        #expect(alarm == .capabilityOff)

        options.recreate = true
        #expect(questions(plan, options) == ["a", "b"])
        let forced = conclusions(plan, ["a": .gone, "b": .gone], options)
        #expect(forced.actions.count { $0.name == .markMissing } == 2)
        #expect(!forced.actions.contains { $0.name == .recreate })
        #expect(forced.alarm == nil)
    }

    @Test func `a single known channel counts as all channels`() {
        let only = entry("a")
        #expect(plan([only]).everythingVanished && !plan([]).everythingVanished)
        // Another known channel is listed, so the list is this app's, and the missing channel is replaced.
        let beside = plan(listed: ["b"], [only, entry("b")])
        #expect(!beside.everythingVanished)
        #expect(conclusions(beside, ["a": .gone]).actions == [.init(.markMissing, only)])
        // Apple refused a message to this channel by name, so the capability is on and the channel is gone.
        #expect(!plan([entry("a", doubted: 1_000_000), entry("b")]).everythingVanished)
    }

    // MARK: Creations without an answer

    @Test func `channels that an unanswered creation may have made are read for their policy`() {
        let plan = plan(
            [call(.mostRecentMessageStored)], [unmanaged("before", nil, seen: 61), unmanaged("unread", nil)])
        #expect(questions(plan) == ["unread"])
    }

    @Test func `a creation waits while a channel may belong to another running call`() {
        let (call, underWay) = (call(began: 60), call(began: 30, settleable: -10))
        let plan = plan([call, underWay], [unmanaged("x", seen: 20)])
        #expect(conclusions(plan).actions.isEmpty)
        // A channel of the other policy does not fit.
        let other = self.plan([call, underWay], [unmanaged("x", .mostRecentMessageStored, seen: 20)])
        #expect(conclusions(other).actions == [.init(.reopen, call)])
    }

    // MARK: Unmanaged channels

    @Test func `a dry run shows the plan without reading policies`() {
        let channel = unmanaged("x", nil)
        for (options, action) in [
            (ReconciliationOptions(.init(apply: false, adopt: true)), ReconciliationAction(.adopt, nil, channel)),
            (
                ReconciliationOptions(.init(apply: false, deleteUnmanaged: true), grace: 0),
                .init(.deleteUnmanaged, nil, channel)
            ),
        ] {
            let plan = plan([], [channel])
            #expect(questions(plan, options).isEmpty && conclusions(plan, [:], options).actions == [action])
        }
    }

    // MARK: Channels of unanswered creations

    @Test func `a call leaves a channel to the only other call that can have created it`() {
        let (early, late) = (call(began: 60, settleable: 50), call(began: 40, settleable: 30))
        // The channel `either` may belong to either call. The channel `early` was seen before the late call began, so
        // it can only belong to the early call.
        let either = unmanaged("either", seen: 39, lacked: 55)
        let earlys = unmanaged("early", seen: 41, lacked: 55)
        let plan = plan([early, late], [either, earlys])
        #expect(
            Set(conclusions(plan).actions)
                == [.init(.settle, early, earlys), .init(.settle, late, either)])
    }

    @Test func `the alarm lasts a day`() {
        let young = plan([], [unmanaged("x", seen: 86_000, lacked: nil, contested: true)])
        let old = plan([], [unmanaged("x", seen: 86_400, lacked: nil, contested: true)])
        #expect(conclusions(young).alarm == .ambiguousCreation)
        #expect(conclusions(old).alarm == nil)
    }

    // MARK: Refused channels

    @Test
    func
        `a refused channel that Apple has but does not list is confirmed, and one that Apple does not have is missing`()
    {
        let doubted = entry("a", doubted: 1)
        let plan = plan(listed: ["b"], [doubted, entry("b")])
        let hidden = conclusions(plan, ["a": .exists(.noMessageStored)])
        #expect(hidden.actions == [.init(.confirm, doubted)])
        #expect(hidden.alarm == .listIncomplete)
        #expect(conclusions(plan, ["a": .gone]).actions == [.init(.markMissing, doubted)])
    }

    // MARK: Channels that are listed again

    @Test func `of two channels that served one event the newer serves it again`() {
        let older = entry("older", .deleted, wanted: true)
        let newer = entry("newer", .deleted, wanted: true)
        let plan = plan(listed: ["older", "newer"], [older, newer])
        #expect(
            conclusions(plan).actions == [.init(.release, older), .init(.restore, newer)])
    }
}
