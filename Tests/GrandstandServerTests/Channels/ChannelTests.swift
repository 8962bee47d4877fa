internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct ImportTests {
    @Test func `an imported channel replaces the planned one of a waiting event and gets its messages`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            try await stores.align()
            try await stores.accept(.update())
            try await stores.adopt(for: "match-1")
            try await stores.align()
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.sendOne().message.channelID == "console==")
        }
    }

    @Test func `an import for an event with a channel, or for one that is over or unknown, is refused`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await refuses(.channelExists) { try await stores.adopt(for: "match-1") }
            try await refuses(.invalidRequest) { try await stores.adopt("x", for: "match-1", .noMessageStored) }
            try await refuses(.eventNotFound) { try await stores.adopt(for: "other") }
            try await stores.cancel()
            try await refuses(.eventEnded) { try await stores.adopt(for: "match-1") }
            // None of the refused imports stored a channel.
            #expect(try await stores.rows("channels where channel_id = 'console=='") == 0)
        }
    }

    @Test func `of two concurrent imports one succeeds`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let taken = try await concurrently(4) { _ in (try? await stores.adopt()) != nil }
            #expect(taken.count { $0 } == 1)
        }
    }
}

/// An audience that is reached by tokens has no channel, and nothing waits for one.
struct DeliveryByTokensTests {
    private static func audience(_ delivery: Contract.AudienceDelivery) throws -> Audience {
        var audience = try Audience.sample()
        audience.delivery = delivery
        return audience
    }

    @Test func `an audience with tokens gets, imports and plans no channel`() async throws {
        try await withStores { stores in
            let event = try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            #expect(event.audiences.map(\.delivery) == [.tokens])
            #expect(event.channels.map(\.state) == [.none])
            #expect(try await stores.provision().isEmpty)
            try await refuses(.invalidRequest) { try await stores.adopt(for: "match-1") }
            #expect(try await stores.quota().forecast.peak == 0)
        }
    }

    @Test func `after a change to tokens the channel retires, and after a change back it is kept`() async throws {
        try await withStores { stores in
            try await stores.open()
            let channel = try await stores.channel()
            try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            #expect(try await stores.rows("audiences where channel is not null") == 0)
            try await stores.put(.sample(audiences: [try Self.audience(.channel)]))
            #expect(try await stores.rows("audiences where channel = \(channel.id)") == 1)
            try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            try await stores.align()
            #expect(try await stores.channel().state == .retiring)
            #expect(try await stores.claimChannels().isEmpty)
        }
    }
}

struct ReserveTests {
    @Test func `40 concurrent reservations at a limit of 7 give exactly 7`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 7))
            let tasks = try await concurrently(40) { _ in try await stores.reserveIfRoom() }
            #expect(tasks.count { $0 != nil } == 7)
            #expect(try await stores.rows("channels") == 7)
        }
    }

    @Test func `a reservation is leased with the app's address, and deleted channels do not count in a limit`()
        async throws
    {
        try await withStores { stores in
            let override = Contract.Override(keyId: "KEYPROD123")
            _ = try await stores.apps.put(
                .sample(channelLimit: 1, environments: Contract.Overrides(production: override)))
            let task = try await stores.reserve("com.example.goal")
            #expect(task.channel.state == .creating && task.channel.label == "by hand")
            #expect(try task.channel.bundleID == .sample() && task.address.bundleID == .sample())
            #expect(task.address.credentials == Credentials(teamID: "TEAM123456", keyID: "KEYPROD123"))
            #expect(try await stores.channel(task.channel.id) == task.channel)
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.reserveIfRoom() == nil)
            _ = try await stores.reserve(in: .development)
            try await stores.record(.unsuccessful(state: .deleted, nextAttemptAt: nil), of: task)
            try await stores.record(.created(channelID: "a"), of: try await stores.reserve())
            #expect(try await stores.reserveIfRoom() == nil)
        }
    }
}

struct DeletionTests {
    private func begin(_ stores: StoreWorld, _ id: UUID, force: Bool = false) async throws -> ChannelTask? {
        try await stores.channels.beginDeletion(
            id, force: force, now: stores.now, leasedUntil: stores.now + 10)
    }

    @Test func `claimDue leases a channel to only one of many callers until the lease ends`() async throws {
        try await withStores { stores in
            let keys = try (1...10).map { try EventKey.sample("match-\($0)") }
            for key in keys { try await stores.open(key.rawValue) }
            for key in keys { try await stores.cancel(key) }
            try await stores.align()
            stores.clock.advance(by: StoreWorld.retireAfter)
            let tasks = try await concurrently(5) { _ in try await stores.claimChannels(limit: 4) }.flatMap(\.self)
            let rest = try await stores.claimChannels()
            #expect(Set((tasks + rest).map(\.channel.id)).count == 10)
            #expect(tasks.count + rest.count == 10)
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.nextDueChannel() == stores.now + 10)
            stores.clock.advance(by: 10.5)
            let again = try await stores.claimChannels()
            #expect(again.count == 10)
            #expect(again.allSatisfy { $0.channel.state == .deleting && $0.channel.attempts == 2 })
        }
    }

    @Test func `a caller that asks Apple keeps its own lease for as long as the call takes`() async throws {
        try await withStores { stores in
            let creation = try await stores.beginCreation()
            let end = stores.now + 60
            try await stores.channels.extendLease(of: creation, until: end)
            stores.clock.advance(by: 59)
            #expect(try await stores.claimReconciliation() == nil)
            try await stores.record(.created(channelID: "made"), of: creation)
            try await stores.channels.extendLease(of: creation, until: end)
            #expect(try await stores.nextDueChannel() == nil)

            try await stores.forceDeletion(of: try await stores.channel())
            stores.clock.advance(by: 10.5)
            let deletion = try #require(try await stores.claimChannels().first)
            try await stores.channels.extendLease(of: deletion, until: stores.now + 60)
            stores.clock.advance(by: 50)
            #expect(try await stores.claimChannels().isEmpty)
            stores.clock.advance(by: 10.5)
            #expect(try await stores.claimChannels().map(\.channel.id) == [deletion.channel.id])
        }
    }

    @Test func `a channel that a live event needs is deleted only by force, and the event then gets another`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let old = try await stores.channel()
            #expect(try await begin(stores, old.id) == nil)
            #expect(try await stores.channel().state == .active)
            let task = try #require(try await begin(stores, old.id, force: true))
            #expect(task.channel.state == .deleting)
            #expect(task.channel.channelID == old.channelID)
            stores.clock.advance(by: 1)
            try await stores.provision()
            let new = try await stores.channel()
            #expect(new.id != old.id)
            #expect(new.state == .active)
            try await stores.deleted(old)
            try await stores.accept(.update())
            #expect(try await stores.sendOne().message.channelID == new.channelID)
        }
    }
}

/// What becomes of a channel after each answer of Apple.
@Suite(.timeLimit(.minutes(20)))
struct ChannelCallsTests {
    private static let app = "com.example.plain"

    /// A ledger with one app, and calls to Apple with these answers.
    private static func with(
        _ gateway: ScriptedGateway, limit: Int = 10_000, _ body: (StoreWorld, ChannelCalls) async throws -> Void
    ) async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample(app, channelLimit: limit))
            let calls = ChannelCalls(
                gateway: gateway, channels: stores.channels,
                worker: LoopSample.worker(lease: 10, now: { stores.now }))
            try await body(stores, calls)
        }
    }

    /// A retiring channel that no device needs.
    private static func spare(_ stores: StoreWorld, _ channelID: String = "old==") async throws {
        try await stores.pool.query(
            """
            insert into channels (id, bundle_id, environment, channel_id, storage_policy, state, next_attempt_at, created_at, changed_at)
            values (\(UUID()), \(app), 'production', \(channelID), 'noMessageStored', 'retiring', \(stores.now + 60),
                \(stores.now - 86_400), \(stores.now - 86_400))
            """)
    }

    /// A leased deletion of the channel `abc==`.
    private static func deletion(_ stores: StoreWorld) async throws -> ChannelTask {
        let channel = try await stores.adopt("abc==", of: app)
        return try #require(
            try await stores.channels.beginDeletion(
                channel.id, force: false, now: stores.now, leasedUntil: stores.now + 10))
    }

    @Test func `a list is read before a creation unless one was read lately, one for all creations of an app`()
        async throws
    {
        let listing = ChannelListing(channelIDs: ["theirs=="])
        // A list that cannot be read delays no creation, and is not requested for each of them either.
        for (list, seen) in [(APNsAnswer.giving(listing), 1), (.refusing(.serviceUnavailable), 0)] {
            let gateway = ScriptedGateway(creations: [.giving("a"), .giving("b"), .giving("c")], lists: [list])
            try await Self.with(gateway) { stores, calls in
                var tasks: [ChannelTask] = []
                for _ in 0..<3 { tasks.append(try await stores.reserve(Self.app)) }
                for task in tasks { _ = try await calls.create(task, retries: true, by: .server) }
                #expect(gateway.calls.listed.count == 1 && gateway.calls.created.count == 3)
                #expect(try await stores.rows("unmanaged_channels where channel_id = 'theirs=='") == seen)
            }
        }
        // A list that another replica has read is also used, for half a minute.
        for (age, lists) in [(29.0, 0), (31.0, 1)] {
            let gateway = ScriptedGateway(creations: [.giving("abc==")], lists: [.giving(listing)])
            try await Self.with(gateway) { stores, calls in
                var task = try await stores.reserve(Self.app)
                task.listAskedAt = stores.now - age
                _ = try await calls.create(task, retries: true, by: .server)
                #expect(gateway.calls.listed.count == lists)
            }
        }
    }

    @Test func `a creation whose lease ended while the list was read is not sent`() async throws {
        let gateway = ScriptedGateway(lists: [.giving(ChannelListing(channelIDs: []))])
        try await Self.with(gateway) { stores, calls in
            let task = try await stores.reserve(Self.app)
            try await stores.pool.query("update channels set attempts = 2")
            let (_, answer) = try await calls.create(task, retries: true, by: .server)
            guard case .withheld = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(gateway.calls.created.isEmpty)
        }
    }

    @Test func `at the limit a retiring channel is deleted before a caller's is created, or the caller is refused`()
        async throws
    {
        let draft = Contract.ChannelDraft(storagePolicy: .noMessageStored)
        for (hasSpare, answer, isCreated) in [
            (true, APNsAnswer<Void>.ok, true), (true, .unanswered("lost"), false), (false, .ok, false),
        ] {
            let gateway = ScriptedGateway(creations: [.giving("new==")], deletions: [answer])
            try await Self.with(gateway, limit: 1) { stores, calls in
                if hasSpare { try await Self.spare(stores) } else { try await stores.adopt("used==", of: Self.app) }
                let app = AppEnvironment(bundleID: try .sample(Self.app), environment: .production)
                let create = { try await calls.create(draft, for: app, by: .commandLine) }
                if isCreated {
                    #expect(try await create().channelID == "new==")
                } else {
                    let problem = await #expect(throws: Problem.self) { _ = try await create() }
                    #expect(problem?.kind == .quotaExhausted)
                    #expect((problem?.limit, problem?.used, problem?.reserved) == (1, 1, 0))
                }
                #expect(gateway.calls.deleted == (hasSpare ? ["old=="] : []))
                #expect(gateway.calls.created.isEmpty == !isCreated)
            }
        }
    }

    @Test func `after a 404 a deletion counts only if Apple's list lacks the channel`() async throws {
        let noPath = APNsRefusal(status: 404, reason: .badPath)
        // The path may be wrong. Then the list is answered with 404, too.
        for (list, isGone) in [
            (APNsAnswer.giving(ChannelListing(channelIDs: ["other=="])), true),
            (.giving(ChannelListing(channelIDs: ["abc=="])), false), (.refused(noPath), false),
        ] {
            let gateway = ScriptedGateway(deletions: [.refused(noPath)], lists: [list])
            try await Self.with(gateway) { stores, calls in
                let (channel, _) = try await calls.delete(try await Self.deletion(stores), by: .server)
                #expect(gateway.calls.deleted == ["abc=="] && gateway.calls.listed.count == 1)
                #expect(channel.state == (isGone ? .deleted : .deleting))
                #expect(channel.reason == (isGone ? nil : "BadPath"))
            }
        }
    }
}
