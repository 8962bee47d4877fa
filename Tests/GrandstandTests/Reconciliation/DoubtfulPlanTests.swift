internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// Examples of the rules about what a single list or refusal does not prove.
extension ReconciliationPlanTests {
    // MARK: Channels of unanswered creations

    @Test(arguments: [nil, 120.001])
    func `without a list in the minute before the call nothing is adopted, there is an alarm, and the call is repeated`(
        _ lacked: TimeInterval?
    ) {
        let call = call()
        let channel = unmanaged("theirs?", lacked: lacked)
        let (actions, alarm) = conclusions(plan([call], [channel]))
        #expect(actions == [.reopen(call), .contest(channel)])
        #expect(alarm == .ambiguousCreation)
        #expect(conclusions(plan([call], [unmanaged("ours", lacked: 120)])).actions.map(\.name) == ["settle"])
    }

    @Test func `if there are more channels than calls that can have created them, none is adopted`() {
        let (early, late) = (call(began: 60, settleable: 50), call(began: 30, settleable: 20))
        // Two calls and two channels. Both channels came after the early call had ended.
        let channels = [unmanaged("a", seen: 20, lacked: 45), unmanaged("b", seen: 20, lacked: 45)]
        let (actions, alarm) = conclusions(plan([early, late], channels))
        #expect(actions == [.reopen(early), .reopen(late), .contest(channels[0]), .contest(channels[1])])
        #expect(alarm == .ambiguousCreation)
    }

    @Test func `a call leaves a channel to the only other call that can have created it`() {
        let (early, late) = (call(began: 60, settleable: 50), call(began: 40, settleable: 30))
        // The channel `either` may belong to either call. The channel `early` was seen before the late call began, so
        // it can only belong to the early call.
        let either = unmanaged("either", seen: 39, lacked: 55)
        let earlys = unmanaged("early", seen: 41, lacked: 55)
        let plan = plan([early, late], [either, earlys])
        #expect(
            Set(conclusions(plan).actions)
                == [.settle(early, with: earlys), .settle(late, with: either)])
    }

    @Test func `adopting and deleting by people ends the uncertainty`() {
        let call = call()
        let channel = unmanaged("theirs?", seen: 40, lacked: nil)
        for (options, name) in [
            (ReconciliationOptions(apply: true, adopt: true), "adopt"),
            (ReconciliationOptions(apply: true, deleteUnmanaged: true, grace: 0), "delete-unmanaged"),
        ] {
            let (actions, alarm) = conclusions(plan([call], [channel]), [:], options)
            #expect(actions.map(\.name) == ["reopen", name])
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
        #expect(incomplete.actions == [.reopen(call)])
        #expect(incomplete.alarm == .listIncomplete)
        let unread = unmanaged("unread", nil, lacked: 210)
        let silent = conclusions(plan([call], [unread]), ["unread": .unknown])
        #expect(silent.actions == [.reopen(call), .contest(unread)])
    }

    // MARK: Refused channels

    @Test func `a refused channel is read, and confirmed if Apple has it`() {
        let doubted = entry("a", doubted: 1)
        let plan = plan(listed: ["a", "b"], [doubted, entry("b"), entry("late", doubted: 0)])
        #expect(questions(plan) == ["late", "a"])
        for (reading, isConfirmed) in [
            (ReconciliationPlan.Reading.exists(.noMessageStored), true), (.gone, true), (.unknown, false),
        ] {
            let (actions, alarm) = conclusions(plan, ["a": reading])
            #expect(actions == (isConfirmed ? [.confirm(doubted)] : []), "\(reading)")
            #expect(alarm == nil)
        }
    }

    @Test
    func
        `a refused channel that Apple has but does not list is confirmed, and one that Apple does not have is missing`()
    {
        let doubted = entry("a", doubted: 1)
        let plan = plan(listed: ["b"], [doubted, entry("b")])
        let hidden = conclusions(plan, ["a": .exists(.noMessageStored)])
        #expect(hidden.actions == [.confirm(doubted)])
        #expect(hidden.alarm == .listIncomplete)
        #expect(conclusions(plan, ["a": .gone]).actions == [.markMissing(doubted)])
    }

    // MARK: Channels that are listed again

    @Test func `of channels that are listed again only those whose deletion Apple confirmed are deleted again`() {
        let asked = entry("asked", .deleted, confirmed: true)
        let (lost, wanted, missing) = (
            entry("lost", .deleted), entry("wanted", .deleted, wanted: true), entry("missing", .missing)
        )
        let plan = plan(listed: ["asked", "lost", "wanted", "missing"], [asked, lost, wanted, missing])
        let all = ReconciliationOptions(apply: true, adopt: true, deleteUnmanaged: true, recreate: true, grace: 0)
        for options in [apply, all] {
            #expect(
                conclusions(plan, [:], options).actions
                    == [.deleteAgain(asked), .release(lost), .restore(wanted), .restore(missing)])
        }
    }

    @Test func `of two channels that served one event the newer serves it again`() {
        let older = entry("older", .deleted, wanted: true)
        let newer = entry("newer", .deleted, wanted: true)
        let plan = plan(listed: ["older", "newer"], [older, newer])
        #expect(
            conclusions(plan).actions == [.release(older), .restore(newer)])
    }
}
