internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import JSON
internal import Postgres
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

/// What reconciliations see and change in the ledger; the decisions are tested with `ReconciliationPlan`.
@Suite(.timeLimit(.minutes(20)))
struct ReconciliationTests {
    @Test func `there is one run at a time, and a dead run loses its lease and can do nothing more`() async throws {
        try await withStores { stores in
            try await stores.open()
            let dead = try await stores.beginReconciliation()
            try await refuses(.reconciliationRunning) { try await stores.beginReconciliation() }
            stores.clock.advance(by: 10)
            let run = try await stores.beginReconciliation()
            try await refuses(.reconciliationRunning) { try await stores.observe([], dead) }
            try await refuses(.reconciliationRunning) { try await stores.apply([], dead) }
            try await stores.channels.extend(dead, until: stores.now)
            try await stores.channels.fail(dead, again: stores.now, now: stores.now)
            try await refuses(.reconciliationRunning) { try await stores.beginReconciliation() }
            try await stores.finish(run)
            _ = try await stores.beginReconciliation()
            try await refuses(.appNotFound) {
                try await stores.channels.beginReconciliation(
                    .sample("com.example.none"), now: stores.now, leasedUntil: stores.now)
            }
        }
    }

    @Test
    func `a run is due by the interval, after a failure at its time, and for an unanswered creation`()
        async throws
    {
        try await withStores { stores in
            try await stores.put(.sample())
            #expect(try await stores.claimReconciliation(interval: 3_600) == nil)
            stores.clock.advance(by: 3_600)
            #expect(try await stores.claimReconciliation(interval: 0) == nil)
            let failed = try #require(try await stores.claimReconciliation(interval: 3_600))
            let other = try #require(try await stores.claimReconciliation(interval: 3_600))
            #expect(failed.address.environment != other.address.environment)
            #expect(try await stores.claimReconciliation(interval: 3_600) == nil)
            try await stores.finish(other)
            try await stores.channels.fail(failed, again: stores.now + 30, now: stores.now)
            #expect(try await stores.claimReconciliation() == nil)
            stores.clock.advance(by: 30)
            try await stores.finish(try #require(try await stores.claimReconciliation()))

            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            // The creation is under way: nobody settles it before its lease has ended.
            stores.clock.advance(by: 9)
            #expect(try await stores.claimReconciliation() == nil)
            try await stores.record(.unanswered(settleableAt: stores.now + 2), of: task)
            stores.clock.advance(by: 1)
            #expect(try await stores.claimReconciliation() == nil)
            stores.clock.advance(by: 1)
            #expect(try await stores.claimReconciliation() != nil)
        }
    }

    @Test func `the time when an unmanaged channel was first seen is kept while Apple lists it`() async throws {
        try await withStores { stores in
            try await stores.open()
            let run = try await stores.beginReconciliation()
            let mine = try #require(try await stores.channel().channelID)
            let first = stores.clock.advance(by: 1)
            #expect(try await stores.observe([mine, "a", "b"], run).unmanaged.map(\.channelID) == ["a", "b"])
            stores.clock.advance(by: 1)
            let plan = try await stores.observe([mine, "b", "c"], run)
            #expect(plan.unmanaged.map(\.firstSeenAt) == [first, stores.now])
            #expect(plan.matched == 1)
            let quota = try await stores.quota()
            #expect(quota.unmanaged == 2)
            #expect(quota.apple == Contract.AppleCount(count: 3, at: stores.now))

            let done = try await stores.apply(
                [
                    .init(
                        .adopt, nil,
                        UnmanagedChannel(channelID: "b", firstSeenAt: first, storagePolicy: .noMessageStored))
                ], run
            ).done
            #expect(done == [true])
            #expect(try await stores.observe([mine, "b", "c"], run).unmanaged.map(\.channelID) == ["c"])
            #expect(try await stores.unmanaged().map(\.channelID) == ["c"])
        }
    }

    @Test func `a channel that a list and the answer to its creation bring at once is not unmanaged`() async throws {
        try await withStores { stores in
            let task = try await stores.beginCreation()
            let app: PostgresQuery = "bundle_id = 'com.example.Goal' and environment = 'production'"
            let recording = try await stores.pool.transaction { connection in
                try await connection.query("select from app_environments where \(app) for no key update")
                try await connection.query(
                    """
                    insert into unmanaged_channels (bundle_id, environment, channel_id, first_seen_at)
                    values ('com.example.Goal', 'production', 'made', \(stores.now))
                    """)
                let recording = Task { try await stores.record(.created(channelID: "made"), of: task) }
                try await stores.untilSomebodyWaits()
                return recording
            }
            #expect(try await recording.value.channelID == "made")
            #expect(try await stores.unmanaged().isEmpty)

            let noting = try await stores.pool.transaction { connection in
                try await connection.query("select from app_environments where \(app) for share")
                try await connection.query("update channels set channel_id = 'late' where \(app)")
                let noting = Task { try await stores.witness(["late"]) }
                try await stores.untilSomebodyWaits()
                return noting
            }
            try await noting.value
            #expect(try await stores.unmanaged().isEmpty)
        }
    }

    @Test func `an unanswered creation gets the channel it made, and the event's lane uses it`() async throws {
        try await withStores { stores in
            let task = try await stores.beginCreation()
            try await stores.witness([])
            stores.clock.advance(by: 0.1)
            #expect(try await stores.channels.beginCall(of: task, now: stores.now))
            stores.clock.advance(by: 0.1)
            try await stores.record(.unanswered(settleableAt: stores.now), of: task)
            try await stores.accept(.update())
            stores.clock.advance(by: 1)
            let run = try await stores.beginReconciliation()
            let (actions, alarm) = try await stores.observe(["made"], run).applied(
                stores.now, ["made": .exists(.mostRecentMessageStored)])
            #expect(alarm == nil)
            #expect(actions.map(\.name) == [.settle])
            #expect(try await stores.apply(actions, run).done == [true])
            #expect(try await stores.channel().state == .active)
            #expect(try await stores.sendOne().message.channelID == "made")
            // Applying the same conclusion a second time does nothing.
            #expect(try await stores.apply(actions, run).done == [false])
        }
    }

    @Test func `an unanswered creation that made nothing is repeated, and one by hand is given up`() async throws {
        try await withStores { stores in
            let task = try await stores.beginCreation()
            let byHand = try await stores.reserve(leasedFor: 0)
            for task in [task, byHand] { try await stores.record(.unanswered(settleableAt: stores.now), of: task) }
            stores.clock.advance(by: 1)
            // Only Apple's list tells whether they made channels, so nobody repeats the calls before.
            #expect(try await stores.claimChannels().isEmpty)
            let run = try await stores.beginReconciliation()
            let actions = try await stores.observe([], run).applied(stores.now).actions
            #expect(actions.map(\.name) == [.reopen, .reopen])
            #expect(try await stores.apply(actions, run).done == [true, true])
            #expect(try await stores.claimChannels().map(\.channel.id) == [task.channel.id])
            let given = try await stores.channel(byHand.channel.id)
            #expect(given?.state == .deleted)
        }
    }

    @Test func `an answer after its creation was settled loses none of Apple's IDs`() async throws {
        try await withStores { stores in
            let task = try await stores.beginCreation()
            stores.clock.advance(by: 11)
            let run = try await stores.beginReconciliation()
            let actions = try await stores.observe([], run).applied(stores.now).actions
            _ = try await stores.apply(actions, run)
            let second = try #require(try await stores.claimChannels().first)
            let now = try await stores.record(.created(channelID: "late"), of: task)
            #expect(now.state == .creating)
            // No event uses the late channel, so it is deleted.
            let spare = try #require(try await stores.claimChannels().first)
            #expect(spare.channel.channelID == "late" && spare.channel.state == .deleting)
            #expect(try await stores.record(.created(channelID: "good"), of: second).state == .active)
            // A refusal that comes late changes nothing.
            try await stores.record(.unsuccessful(state: .failed, nextAttemptAt: nil), of: task)
            #expect(try await stores.channel().channelID == "good")
        }
    }

    @Test func `a live event's lost channel is missing, and a lost retiring one counts as deleted`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.open("over")
            let lost = try await stores.channel()
            let over = try await stores.channel(of: "over")
            try await stores.cancel("over")
            try await stores.align()
            stores.clock.advance(by: 1)
            let run = try await stores.beginReconciliation()
            let plan = try await stores.observe([], run)
            #expect(plan.everythingVanished)
            let readings = [lost, over].reduce(into: [:]) { $0[$1.channelID ?? ""] = ReconciliationPlan.Reading.gone }
            let actions = plan.conclusions(
                readings, ReconciliationOptions(.init(apply: true, recreate: true)), now: stores.now
            ).actions
            #expect(try await stores.apply(actions, run).done == [true, true])
            #expect(try await stores.channel(of: "over").state == .deleted)
            #expect(try await stores.channel().state == .missing)
        }
    }

    @Test func `an unmanaged channel is deleted through the ledger, so that it cannot be imported meanwhile`()
        async throws
    {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let run = try await stores.beginReconciliation()
            _ = try await stores.observe(["x"], run)
            let unmanaged = UnmanagedChannel(channelID: "x", firstSeenAt: stores.now, storagePolicy: .noMessageStored)
            let (done, deletions) = try await stores.apply([.init(.deleteUnmanaged, nil, unmanaged)], run)
            #expect(done == [true])
            let channel = try #require(deletions.first).channel
            #expect(channel.channelID == "x" && channel.state == .deleting)
            try await refuses(.channelExists) { try await stores.adopt("x") }
            // The deletion is leased to the run. If the run dies, the server deletes the channel.
            #expect(try await stores.claimChannels().isEmpty)
            stores.clock.advance(by: 11)
            #expect(try await stores.claimChannels().map(\.channel.channelID) == ["x"])
        }
    }

    @Test func `the last fifty reports are kept as they were answered`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            var answered: [Contract.Reconciliation] = []
            for _ in 1...52 {
                stores.clock.advance(by: 1)
                let run = try await stores.beginReconciliation()
                let report = try await stores.finish(run, .listIncomplete)
                answered.insert(report, at: 0)
                let kept = try await stores.channels.report(
                    Sample.known(UUID(uuidString: report.id)), of: .sample())
                #expect(JSONWriter.text(kept) == JSONWriter.text(report))
            }
            let first = try await stores.channels.reports(of: .sample(), PageRequest(limit: 40))
            let second = try await stores.channels.reports(
                of: .sample(), PageRequest(limit: 40, cursor: first.nextCursor))
            #expect(first.items.count == 40 && (first.items + second.items).map(\.id) == answered.prefix(50).map(\.id))
            #expect(try await stores.quotas().map(\.alarm) == [nil, .listIncomplete])
        }
    }
}

extension ReconciliationPlan {
    fileprivate func applied(
        _ now: Date, _ readings: [String: Reading] = [:]
    ) -> (actions: [ReconciliationAction], alarm: Contract.ReconciliationAlarm?) {
        conclusions(readings, ReconciliationOptions(.init(apply: true)), now: now)
    }
}

/// A creation that Apple did not answer, for an app that other systems also use. No event gets a channel of those
/// systems.
@Suite(.timeLimit(.minutes(20)))
struct WitnessTests {
    /// Begins to create a channel with the storage policy `mostRecentMessageStored`. Apple does not answer. `listed` is
    /// Apple's list just before the creation; `nil`: it was not read.
    private func lostCall(_ stores: StoreWorld, witness listed: [String]?) async throws {
        let task = try await stores.beginCreation()
        if let listed {
            try await stores.witness(listed)
            stores.clock.advance(by: 0.1)
            #expect(try await stores.channels.beginCall(of: task, now: stores.now))
        }
        stores.clock.advance(by: 0.1)
        try await stores.record(.unanswered(settleableAt: stores.now), of: task)
        stores.clock.advance(by: 1)
    }

    private let policies: [String: StoragePolicy] = [
        "theirs": .mostRecentMessageStored, "made": .mostRecentMessageStored,
    ]

    @Test
    func
        `without a list before the call nothing is adopted, an alarm is raised, and the event gets its own channel`()
        async throws
    {
        try await withStores { stores in
            try await lostCall(stores, witness: nil)
            let (actions, alarm) = try await stores.reconcile(["theirs"], policies: policies)
            #expect(actions.map(\.name) == [.reopen, .contest])
            #expect(alarm == .ambiguousCreation)
            #expect(try await stores.quota().alarm == .ambiguousCreation)
            try await stores.provision()
            let channel = try await stores.channel()
            #expect(channel.state == .active && channel.channelID != "theirs")
            // While the list has a channel that somebody must look at, the alarm stays, but for a day at most.
            let mine = try #require(channel.channelID)
            stores.clock.advance(by: 3_600)
            #expect(try await stores.reconcile([mine, "theirs"]).alarm == .ambiguousCreation)
            #expect(try await stores.reconcile([mine]).alarm == nil)
        }
    }

    @Test func `of two new channels for one call none is adopted`() async throws {
        try await withStores { stores in
            try await lostCall(stores, witness: [])
            let (actions, alarm) = try await stores.reconcile(["theirs", "made"], policies: policies)
            #expect(actions.map(\.name) == [.reopen, .contest, .contest])
            #expect(alarm == .ambiguousCreation)
            // The list that was just read counts as the list before the next creation.
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            #expect(abs(try #require(task.listAskedAt).timeIntervalSince(stores.now)) < 0.01)
            stores.clock.advance(by: 0.1)
            try await stores.record(.unanswered(settleableAt: stores.now), of: task)
            stores.clock.advance(by: 1)
            let again = try await stores.reconcile(
                ["theirs", "made", "again"], policies: ["again": .mostRecentMessageStored])
            #expect(again.actions.map(\.channelID) == ["again"])
            #expect(try await stores.channel().channelID == "again")
        }
    }

    @Test func `an older list replaces neither a newer list nor the channels first seen in it`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let early = stores.now
            let run = try await stores.beginReconciliation()
            let late = stores.clock.advance(by: 1)
            try await stores.witness(["x"])
            let plan = try await stores.channels.observe(
                ChannelListing(channelIDs: []), listedAt: early, seenAt: late, run)
            #expect(plan.unmanaged.isEmpty)
            #expect(try await stores.unmanaged().map(\.firstSeenAt) == [late])
            #expect(try await stores.quota().apple == Contract.AppleCount(count: 1, at: late))
        }
    }
}

/// `/v1/apps/{bundleId}/{environment}/reconciliations`.
@Suite(.database)
struct ReconciliationRouteTests {
    private static let path = "/v1/apps/com.example.Stadium/production/reconciliations"

    @Test func `a report is answered, listed and kept, and an answer says why Apple's list could not be read`()
        async throws
    {
        var world = RouteWorld()
        _ = try await world.rows.apps.put(Sample.app(), by: .server)
        world.gateway = ScriptedGateway(
            lists: [.unanswered("no answer"), .giving(ChannelListing(channelIDs: ["x"]))])
        let failed = try await world("POST", Self.path, "{}")
        #expect(failed.status == 504 && failed.slug == "apns-unanswered")
        let made = try await world("POST", Self.path, "{}")
        #expect(made.status == 201 && (made.json["unmanaged"] as? [Any])?.count == 1, "\(made.text)")
        let id = try #require(made.json["id"] as? String)
        #expect(try await world("GET", Self.path + "/\(id)").text == made.text)
        #expect(try await world("GET", Self.path).text == #"{"items":[\#(made.text)],"nextCursor":null}"#)
        #expect(try await world("GET", Self.path + "/\(Sample.otherID)").slug == "reconciliation-not-found")
    }
}
