internal import APNsWire
internal import FoundationEssentials
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
    private static func audience(_ delivery: Audience.Delivery) throws -> Audience {
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
            #expect(problems.allSatisfy { ($0.limit, $0.used, $0.reserved) == (7, 0, 7) })
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
            try await refuses(.quotaExhausted) { try await stores.reserve() }
            _ = try await stores.reserve(in: .development)
            try await stores.record(.notCreated(state: .deleted, nextAttemptAt: nil), of: task)
            try await stores.record(.created(channelID: "a"), of: try await stores.reserve())
            try await refuses(.quotaExhausted) { try await stores.reserve() }
        }
    }
}

struct DeletionTests {
    private func begin(_ stores: StoreWorld, _ id: UUID, force: Bool = false) async throws -> ChannelTask {
        try #require(
            try await stores.channels.beginDeletion(
                id, of: .sample(), force: force, now: stores.now, leasedUntil: stores.now + 10))
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
            try await stores.put(.sample())
            try await stores.align()
            let creation = try #require(try await stores.claimChannels().first)
            let end = stores.now + 60
            try await stores.channels.extendLease(of: creation, until: end)
            #expect(try await stores.nextReconciliation() == end)
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
            try await refuses(.channelInUse) { try await begin(stores, old.id) }
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

    @Test func `a channel without an event can be deleted, but not a second time`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let made = try await stores.reserve(leasedFor: 0)
            try await refuses(.channelInUse) { try await begin(stores, made.channel.id) }
            try await stores.record(.created(channelID: "x"), of: made)
            try await stores.deleted(try await begin(stores, made.channel.id).channel)
            let again = try await stores.channels.beginDeletion(
                made.channel.id, of: .sample(), force: false, now: stores.now, leasedUntil: stores.now)
            #expect(again == nil)
        }
    }

    @Test func `an unknown channel, or one of another environment, is not deleted`() async throws {
        try await withStores { stores in
            try await stores.open(audiences: [.sample("com.example.Goal", .development)])
            var unknown = try #require(
                try await stores.ledger("true", of: .sample("com.example.Goal", .development)).first)
            try await refuses(.channelNotFound) { [unknown] in try await begin(stores, unknown.id) }
            unknown.id = UUID()
            try await refuses(.channelNotFound) { [unknown] in try await begin(stores, unknown.id) }
            try await refuses(.channelNotFound) { [unknown] in try await stores.deleted(unknown) }
        }
    }
}
