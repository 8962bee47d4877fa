internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct ReserveTests {
    @Test func `40 concurrent reservations at a limit of 7 give exactly 7, and the others get the numbers in use`()
        async throws
    {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 7))
            let problems = try await concurrently(40) { _ -> Problem? in
                do {
                    _ = try await stores.reserve()
                    return nil
                } catch let problem as Problem { return problem }
            }.compactMap(\.self)
            #expect(problems.count == 33)
            #expect(Set(problems.map(\.kind)) == [.quotaExhausted])
            #expect(problems.allSatisfy { $0.members == [.limit(7), .used(0), .reserved(7)] })
            #expect(try await stores.count("select count(*) as n from channels") == 7)
        }
    }

    @Test func `each environment has its own limit, and deleted and failed channels do not count`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            let task = try await stores.reserve()
            #expect(try await problem { try await stores.reserve() } == .quotaExhausted)
            _ = try await stores.reserve(in: .development)
            try await stores.record(.notCreated(state: .deleted, nextAttemptAt: nil), of: task)
            let second = try await stores.reserve()
            try await stores.record(.created(channelID: "a"), of: second)
            #expect(try await problem { try await stores.reserve() } == .quotaExhausted)
        }
    }

    @Test func `a reservation is a leased channel in creation with the app's address, whatever its case`()
        async throws
    {
        try await withStores { stores in
            let override = App.Override(teamID: nil, keyID: "KEYPROD123")
            _ = try await stores.apps.put(.sample(overrides: [.production: override]))
            let task = try await stores.reserve("com.example.goal")
            #expect(task.channel.state == .creating)
            #expect(task.channel.attempts == 1)
            #expect(task.channel.label == "by hand")
            #expect(task.channel.bundleID == (try .sample()))
            #expect(task.address.bundleID == (try .sample()))
            #expect(task.address.credentials == Credentials(teamID: "TEAM123456", keyID: "KEYPROD123"))
            #expect(task.address.managementPath == .registered)
            #expect(try await stores.channels.channel(task.channel.id, of: .sample(), in: .production) == task.channel)
            #expect(try await stores.channels.channel(task.channel.id, of: .sample(), in: .development) == nil)
            #expect(try await stores.claimChannels().isEmpty)
        }
    }

    @Test func `a learned quirk is part of the address`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let quirk = Quirk(
                environment: .production, name: .managementPath, value: "lowercased", learnedAt: stores.now,
                evidence: "seen")
            try await stores.quirks.remember(quirk, for: .sample(), by: .server)
            let address = try await stores.channels.address(of: .sample(), in: .production)
            #expect(address?.managementPath == .lowercased)
            #expect(try await stores.channels.address(of: .sample(), in: .development)?.managementPath == .registered)
        }
    }
}

struct DeletionTests {
    private func begin(_ stores: Stores, _ id: UUID, force: Bool = false) async throws -> ChannelTask {
        try await stores.channels.beginDeletion(
            id, of: .sample(), in: .production, force: force, now: stores.now,
            leasedUntil: stores.now + 10)
    }

    @Test func `claimDue leases a channel to only one of many callers until the lease ends`() async throws {
        try await withStores { stores in
            let keys = try (1...10).map { try EventKey.sample("match-\($0)") }
            for key in keys { try await stores.open(key.rawValue) }
            for key in keys { try await stores.events.cancel(key, now: stores.now) }
            try await stores.align()
            stores.clock.advance(by: Stores.retireAfter)
            let tasks = try await concurrently(5) { _ in try await stores.claimChannels(limit: 4) }.flatMap(\.self)
            let rest = try await stores.claimChannels()
            #expect(Set((tasks + rest).map(\.channel.id)).count == 10)
            #expect(tasks.count + rest.count == 10)
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.channels.nextDue(now: stores.now) == stores.now + 10)
            stores.clock.advance(by: 10.5)
            let again = try await stores.claimChannels()
            #expect(again.count == 10)
            #expect(again.allSatisfy { $0.channel.state == .deleting && $0.channel.attempts == 2 })
        }
    }

    @Test func `a caller that asks Apple keeps its own lease for as long as the call takes`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            try await stores.align()
            let creation = try #require(try await stores.claimChannels().first)
            let end = stores.now + 60
            try await stores.channels.extendLease(of: creation, until: end)
            #expect(try await stores.reconciliations.nextDue(interval: 0, now: stores.now) == end)
            try await stores.record(.created(channelID: "made"), of: creation)
            try await stores.channels.extendLease(of: creation, until: end)
            #expect(try await stores.channels.nextDue(now: stores.now) == nil)

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
            #expect(try await problem { try await begin(stores, old.id) } == .channelInUse)
            #expect(try await stores.channel().state == .active)
            let task = try await begin(stores, old.id, force: true)
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

    @Test func `a channel without an event can be deleted, and is not found afterwards`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let made = try await stores.reserve(leasedFor: 0)
            #expect(try await problem { try await begin(stores, made.channel.id) } == .channelInUse)
            try await stores.record(.created(channelID: "x"), of: made)
            _ = try await begin(stores, made.channel.id)
            #expect(try await stores.claimChannels().isEmpty)
            let failed = try await stores.record(
                .notDeleted(nextAttemptAt: stores.now + 1), of: made,
                APNsRecord(status: nil, reason: "no answer", requestID: nil))
            #expect(failed.state == .deleting)
            #expect(failed.reason == "no answer")
            stores.clock.advance(by: 1)
            let again = try #require(try await stores.claimChannels().first)
            #expect(again.channel.id == made.channel.id)
            try await stores.deleted(again.channel)
            #expect(try await problem { try await begin(stores, made.channel.id) } == .channelNotFound)
        }
    }

    @Test func `an unknown channel, or one of another app or environment, is not deleted`() async throws {
        try await withStores { stores in
            try await stores.open(audiences: [.sample("com.example.Goal", .development)])
            try await stores.open("b", audiences: [.sample("com.example.Other")])
            let development = try await stores.channels.channels(
                of: .sample(), in: .development, where: ChannelFilter(), PageRequest()
            ).items
            #expect(development.count == 1)
            for id in development.map(\.id) + [UUID()] {
                #expect(try await problem { try await begin(stores, id) } == .channelNotFound)
                #expect(try await stores.channels.channel(id, of: .sample(), in: .production) == nil)
            }
            var unknown = try #require(development.first)
            unknown.id = UUID()
            let kind = try await problem { [unknown] in try await stores.deleted(unknown) }
            #expect(kind == .channelNotFound)
        }
    }
}
