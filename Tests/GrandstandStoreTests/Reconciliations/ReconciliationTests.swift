internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import GrandstandStore

/// What reconciliations see and change in the ledger; the decisions are tested with `ReconciliationPlan`.
@Suite(.timeLimit(.minutes(20)))
struct ReconciliationTests {
    private func begin(_ stores: Stores) async throws -> ReconciliationRun {
        try await stores.reconciliations.begin(
            .sample(), now: stores.now, leasedUntil: stores.now + 10)
    }

    private func observe(
        _ stores: Stores, _ run: ReconciliationRun, _ ids: [String]
    ) async throws -> ReconciliationPlan {
        let listing = ChannelListing(channelIDs: ids)
        return ReconciliationPlan(
            listing,
            try await stores.reconciliations.observe(listing, listedAt: stores.now, seenAt: stores.now, run))
    }

    private func apply(
        _ stores: Stores, _ run: ReconciliationRun, _ actions: [ReconciliationAction]
    ) async throws -> (done: [Bool], deletions: [ChannelTask]) {
        try await stores.reconciliations.apply(
            actions, run, by: .server, now: stores.now, leasedUntil: stores.now + 10)
    }

    private func report(_ stores: Stores, _ run: ReconciliationRun) -> ReconciliationReport {
        ReconciliationReport(
            id: UUID(), bundleID: run.address.bundleID, environment: run.address.environment, actor: "test",
            startedAt: stores.now, finishedAt: stores.now, applied: true, apple: 0, ledger: 0, matched: 0, missing: [],
            unmanaged: [], actions: [], alarm: .listIncomplete, notes: [])
    }

    @Test func `there is one run at a time, and a dead run loses its lease and can do nothing more`() async throws {
        try await withStores { stores in
            try await stores.open()
            let dead = try await begin(stores)
            #expect(try await problem { try await begin(stores) } == .reconciliationRunning)
            stores.clock.advance(by: 10)
            let run = try await begin(stores)
            await #expect(throws: ReconciliationLost.self) { try await observe(stores, dead, []) }
            await #expect(throws: ReconciliationLost.self) { try await apply(stores, dead, []) }
            await #expect(throws: ReconciliationLost.self) {
                try await stores.reconciliations.extend(dead, until: stores.now)
            }
            try await stores.reconciliations.fail(dead, again: stores.now, now: stores.now)
            #expect(try await problem { try await begin(stores) } == .reconciliationRunning)
            try await stores.reconciliations.finish(run, report(stores, run), again: nil, now: stores.now)
            _ = try await begin(stores)
            #expect(
                try await problem {
                    try await stores.reconciliations.begin(
                        .sample("com.example.none"), now: stores.now, leasedUntil: stores.now)
                } == .appNotFound)
        }
    }

    @Test
    func `a run is due by the interval, on request, and for an unanswered creation, and after a failure at its time`()
        async throws
    {
        try await withStores { stores in
            try await stores.put(.sample())
            func claim(_ interval: TimeInterval) async throws -> ReconciliationRun? {
                try await stores.reconciliations.claimDue(
                    interval: interval, now: stores.now, leasedUntil: stores.now + 10)
            }
            func next(_ interval: TimeInterval) async throws -> Date? {
                try await stores.reconciliations.nextDue(interval: interval, now: stores.now)
            }
            #expect(try await claim(3_600) == nil)
            #expect(try await next(3_600) == stores.now + 3_600)
            #expect(try await next(0) == nil)

            try await stores.reconciliations.request(.sample(), now: stores.now)
            let requested = try #require(try await claim(0))
            #expect(requested.address.environment == .production)
            #expect(try await claim(0) == nil)
            let again = stores.now + 30
            try await stores.reconciliations.fail(requested, again: again, now: stores.now)
            #expect(try await claim(0) == nil)
            #expect(try await next(0) == again)
            stores.clock.advance(by: 30)
            let retried = try #require(try await claim(0))
            #expect(retried.failures == 1)
            try await stores.reconciliations.finish(retried, report(stores, retried), again: nil, now: stores.now)

            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            // The creation is under way: nobody settles it before its lease has ended.
            #expect(try await claim(0) == nil)
            #expect(try await next(0) == stores.now + 10)
            try await stores.record(.unanswered(settleableAt: stores.now + 2), of: task)
            #expect(try await next(0) == stores.now + 2)
            stores.clock.advance(by: 2)
            #expect(try await claim(0) != nil)
        }
    }

    @Test func `the time when an unmanaged channel was first seen is kept while Apple lists it`() async throws {
        try await withStores { stores in
            try await stores.open()
            let run = try await begin(stores)
            let mine = try #require(try await stores.channel().channelID)
            let first = stores.clock.advance(by: 1)
            #expect(try await observe(stores, run, [mine, "a", "b"]).unmanaged.map(\.channelID) == ["a", "b"])
            stores.clock.advance(by: 1)
            let plan = try await observe(stores, run, [mine, "b", "c"])
            #expect(plan.unmanaged.map(\.firstSeenAt) == [first, stores.now])
            #expect(plan.matched == 1)
            let quota = try await stores.quota()
            #expect(quota.unmanaged == 2)
            #expect(quota.apple == Quota.Listed(count: 3, at: stores.now))

            try await stores.reconciliations.keep(policies: ["b": .noMessageStored], run)
            let done = try await apply(
                stores, run,
                [.adopt(UnmanagedChannel(channelID: "b", firstSeenAt: first, storagePolicy: .noMessageStored))]
            ).done
            #expect(done == [true])
            #expect(try await observe(stores, run, [mine, "b", "c"]).unmanaged.map(\.channelID) == ["c"])
            let page = try await stores.channels.unmanagedChannels(of: .sample(), in: .production, PageRequest())
            #expect(page.items.map(\.channelID) == ["c"])
        }
    }

    @Test func `an unanswered creation gets the channel it made, and the event's lane uses it`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            try await stores.reconciliations.witness(
                ChannelListing(channelIDs: []), askedAt: stores.now, seenAt: stores.now, .sample())
            stores.clock.advance(by: 0.1)
            #expect(try await stores.channels.beginCall(of: task, now: stores.now))
            stores.clock.advance(by: 0.1)
            try await stores.record(.unanswered(settleableAt: stores.now), of: task)
            try await stores.accept(.update())
            stores.clock.advance(by: 1)
            let run = try await begin(stores)
            _ = try await observe(stores, run, ["made"])
            try await stores.reconciliations.keep(policies: ["made": .mostRecentMessageStored], run)
            let (actions, alarm) = try await observe(stores, run, ["made"]).conclusions(
                [:], ReconciliationOptions(apply: true), now: stores.now)
            #expect(alarm == nil)
            #expect(actions.map(\.name) == ["settle"])
            #expect(try await apply(stores, run, actions).done == [true])
            #expect(try await stores.channel().state == .active)
            #expect(try await stores.sendOne().message.channelID == "made")
            // Applying the same conclusion a second time does nothing.
            #expect(try await apply(stores, run, actions).done == [false])
        }
    }

    @Test func `an unanswered creation that made nothing is repeated, and one by hand is given up`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            let byHand = try await stores.reserve(leasedFor: 0)
            for task in [task, byHand] { try await stores.record(.unanswered(settleableAt: stores.now), of: task) }
            stores.clock.advance(by: 1)
            let run = try await begin(stores)
            let actions = try await observe(stores, run, []).conclusions(
                [:], ReconciliationOptions(apply: true), now: stores.now
            ).actions
            #expect(actions.map(\.name) == ["reopen", "reopen"])
            #expect(try await apply(stores, run, actions).done == [true, true])
            #expect(try await stores.claimChannels().map(\.channel.id) == [task.channel.id])
            let given = try await stores.channels.channel(byHand.channel.id, of: .sample(), in: .production)
            #expect(given?.state == .deleted)
        }
    }

    @Test func `an answer after its creation was settled loses none of Apple's IDs`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            stores.clock.advance(by: 11)
            let run = try await begin(stores)
            let actions = try await observe(stores, run, []).conclusions(
                [:], ReconciliationOptions(apply: true), now: stores.now
            ).actions
            _ = try await apply(stores, run, actions)
            let second = try #require(try await stores.claimChannels().first)
            let now = try await stores.record(.created(channelID: "late"), of: task)
            #expect(now.state == .creating)
            // No event uses the late channel, so it is deleted.
            let spare = try #require(try await stores.claimChannels().first)
            #expect(spare.channel.channelID == "late")
            #expect(spare.channel.state == .deleting)
            #expect(try await stores.record(.created(channelID: "good"), of: second).state == .active)
            // A refusal that comes late changes nothing.
            try await stores.record(.notCreated(state: .failed, nextAttemptAt: nil), of: task)
            #expect(try await stores.channel().channelID == "good")
        }
    }

    @Test func `a live event's lost channel is replaced, and a lost retiring one counts as deleted`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.open("over")
            let lost = try await stores.channel()
            let over = try await stores.channel(of: "over")
            try await stores.cancel("over")
            try await stores.align()
            stores.clock.advance(by: 1)
            let run = try await begin(stores)
            let plan = try await observe(stores, run, [])
            #expect(plan.everythingVanished)
            let readings = [lost, over].reduce(into: [:]) { $0[$1.channelID ?? ""] = ReconciliationPlan.Reading.gone }
            let actions = plan.conclusions(
                readings, ReconciliationOptions(apply: true, recreate: true), now: stores.now
            ).actions
            #expect(try await apply(stores, run, actions).done == [true, true])
            #expect(try await stores.channel(of: "over").state == .deleted)
            #expect(try await stores.channel().state == .missing)
            try await stores.accept(.update())
            stores.clock.advance(by: 1)
            try await stores.provision()
            let new = try await stores.channel()
            #expect(new.id != lost.id)
            #expect(try await stores.sendOne().message.channelID == new.channelID)
        }
    }

    @Test func `an unmanaged channel is deleted through the ledger, so that it cannot be imported meanwhile`()
        async throws
    {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let run = try await begin(stores)
            _ = try await observe(stores, run, ["x"])
            let unmanaged = UnmanagedChannel(channelID: "x", firstSeenAt: stores.now, storagePolicy: .noMessageStored)
            let (done, deletions) = try await apply(stores, run, [.deleteUnmanaged(unmanaged)])
            #expect(done == [true])
            let task = try #require(deletions.first)
            #expect(task.channel.channelID == "x")
            #expect(task.channel.state == .deleting)
            let wanted = ChannelImport(
                bundleID: try .sample(), environment: .production, channelID: "x", storagePolicy: .noMessageStored,
                label: nil, eventKey: nil, answer: APNsRecord(status: 200, reason: nil, requestID: nil))
            #expect(
                try await problem { try await stores.channels.import(wanted, by: .server, now: stores.now) }
                    == .channelExists)
            // The deletion is leased to the run. If the run dies, the server deletes the channel.
            #expect(try await stores.claimChannels().isEmpty)
            stores.clock.advance(by: 11)
            #expect(try await stores.claimChannels().map(\.channel.channelID) == ["x"])
        }
    }

    @Test func `the last fifty reports are kept as they were answered`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            var last = UUID()
            for _ in 1...52 {
                stores.clock.advance(by: 1)
                let run = try await begin(stores)
                let report = report(stores, run)
                try await stores.reconciliations.finish(run, report, again: nil, now: stores.now)
                last = report.id
                #expect(
                    try await stores.reconciliations.report(last, of: .sample())
                        == JSONWriter.text(Contract.Reconciliation(report)))
            }
            let first = try await stores.reconciliations.reports(of: .sample(), PageRequest(limit: 40))
            #expect(first.items.count == 40)
            #expect(
                String(decoding: try #require(first.items.first), as: UTF8.self).contains(last.uuidString.lowercased()))
            let second = try await stores.reconciliations.reports(
                of: .sample(), PageRequest(limit: 40, cursor: first.nextCursor))
            #expect(second.items.count == 10)
            let alarms = try await stores.quotas().map(\.alarm)
            #expect(alarms == [nil, .listIncomplete])
        }
    }
}
