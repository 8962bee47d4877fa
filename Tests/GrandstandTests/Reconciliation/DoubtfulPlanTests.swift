internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// Examples of the rules about what a single list or refusal does not prove.
extension ReconciliationPlanTests {
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

    @Test func `adopting and deleting by people ends the uncertainty`() {
        let call = call()
        let channel = unmanaged("theirs?", seen: 40, lacked: nil)
        for (options, name) in [
            (ReconciliationOptions(apply: true, adopt: true), Contract.ReconciliationActionName.adopt),
            (ReconciliationOptions(apply: true, deleteUnmanaged: true, grace: 0), .deleteUnmanaged),
        ] {
            let (actions, alarm) = conclusions(plan([call], [channel]), [:], options)
            #expect(actions.map(\.name) == [.reopen, name])
            #expect(alarm == nil)
        }
    }

    @Test func `the alarm lasts a day`() {
        let young = plan([], [unmanaged("x", seen: 86_000, lacked: nil, contested: true)])
        let old = plan([], [unmanaged("x", seen: 86_400, lacked: nil, contested: true)])
        #expect(conclusions(young).alarm == .ambiguousCreation)
        #expect(conclusions(old).alarm == nil)
    }

    @Test func `a call does not wait forever for a complete list or a readable channel`() {
        let (call, young) = (call(began: 200, settleable: 60), call(began: 200, settleable: 59))
        let incomplete = conclusions(
            plan(listed: ["here"], [entry("here"), entry("hidden"), call, young]),
            ["hidden": .exists(.noMessageStored)])
        #expect(incomplete.actions == [.init(.reopen, call)])
        #expect(incomplete.alarm == .listIncomplete)
        let unread = unmanaged("unread", nil, lacked: 210)
        let silent = conclusions(plan([call], [unread]), ["unread": .unknown])
        #expect(silent.actions == [.init(.reopen, call), .init(.contest, nil, unread)])
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
