internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct RetirementTests {
    private let unstored = Result { try Audience.sample("com.example.Goal", .production, .noMessageStored) }

    /// When the channel of the event will be deleted.
    private func retireAt(_ stores: Stores) async throws -> Date? {
        let channel = try await stores.channel()
        #expect(channel.state == .retiring)
        return channel.nextAttemptAt
    }

    @Test func `after the end a channel without stored messages is kept for the configured time only`() async throws {
        try await withStores { stores in
            try await stores.open(audiences: [unstored.get()])
            let end = try await stores.accept(.end())
            // While the end is being sent, the channel is in use.
            #expect(try await stores.align() == 0)
            stores.clock.advance(by: 2)
            try await stores.sendOne()
            try await stores.align()
            let at = end.acceptedAt.addingTimeInterval(Stores.retireAfter)
            #expect(try await retireAt(stores) == at)
            #expect(try await stores.channels.nextDue(now: stores.now) == at)
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.align() == 0)

            stores.clock.advance(by: Stores.retireAfter)
            let task = try #require(try await stores.claimChannels().first)
            #expect(task.channel.state == .deleting)
            #expect(try await stores.deleted(task.channel).state == .deleted)
            #expect(try await stores.align() == 0)
            #expect(try await stores.channels.nextDue(now: stores.now) == nil)
        }
    }

    @Test func `a stored message keeps its channel until it expires`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update(expiresIn: 28_000))
            try await stores.sendOne()
            try await stores.accept(.end(expiresIn: 60))
            try await stores.sendOne()
            try await stores.align()
            #expect(try await retireAt(stores) == stores.now.addingTimeInterval(28_000))
        }
    }

    @Test func `a message that was not stored does not keep its channel`() async throws {
        try await withStores { stores in
            try await stores.open()
            var update = BroadcastRequest.update()
            update.apnsExpiration = 0
            try await stores.accept(update)
            try await stores.sendOne()
            try await stores.accept(.end(expiresIn: 60))
            try await stores.sendOne()
            try await stores.align()
            #expect(try await retireAt(stores) == stores.now.addingTimeInterval(Stores.retireAfter))
        }
    }

    @Test func `a dismissal date keeps the channel until it has passed`() async throws {
        try await withStores { stores in
            try await stores.open(audiences: [unstored.get()])
            let at = Int(stores.now.timeIntervalSince1970) + 14_000
            try await stores.accept(.end(dismissalDate: at))
            try await stores.sendOne()
            _ = try await stores.channels.align(now: stores.now, tenure: ChannelTenure(retireAfter: 60))
            #expect(try await retireAt(stores) == Date(timeIntervalSince1970: Double(at)))
        }
    }

    @Test func `a dismissal date decades ahead counts as Apple's four hours`()
        async throws
    {
        try await withStores { stores in
            try await stores.open(audiences: [unstored.get()])
            let end = try await stores.accept(.end())
            try await stores.pool.query(
                "update broadcasts set dismissal_date = 9223372036854775807 where id = \(end.id)")
            stores.clock.advance(by: 10)
            try await stores.sendOne()
            _ = try await stores.channels.align(now: stores.now, tenure: ChannelTenure(retireAfter: 60))
            #expect(try await retireAt(stores) == stores.now.addingTimeInterval(14_400))
        }
    }

    @Test func `cancelling an event retires its channel, and deletes one that Apple was not yet asked for`()
        async throws
    {
        try await withStores { stores in
            let key = try await stores.open()
            try await stores.put(.sample("waiting"))
            try await stores.align()
            for key in [key, try .sample("waiting")] { try await stores.events.cancel(key, now: stores.now) }
            stores.clock.advance(by: 60)
            try await stores.align()
            #expect(try await retireAt(stores) == stores.now.addingTimeInterval(Stores.retireAfter - 60))
            #expect(try await stores.channel(of: "waiting").state == .deleted)
            #expect(try await stores.claimChannels().isEmpty)
        }
    }

    @Test func `a planned channel of a cancelled event stays while Apple is being asked to create it`() async throws {
        try await withStores { stores in
            let key = try await stores.put(.sample()).specification.key
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            try await stores.events.cancel(key, now: stores.now)
            #expect(try await stores.align() == 0)
            try await stores.record(.created(channelID: "late"), of: task)
            try await stores.align()
            #expect(try await stores.channel().state == .retiring)
        }
    }

    @Test func `a removed audience's channel retires, and the event's others stay`() async throws {
        try await withStores { stores in
            let kept = try Audience.sample("com.example.Kept")
            let key = try await stores.open(audiences: [.sample(), kept])
            try await stores.accept(.update(alert: "{}"))
            try await stores.put(.sample(audiences: [kept]))
            try await stores.align()
            #expect(try await stores.channel().state == .retiring)
            let event = try #require(try await stores.events.event(key, now: stores.now))
            #expect(event.specification.audiences == [kept])
            #expect(event.channels.map(\.state) == [.active])
            #expect(try await stores.claim().map(\.address.bundleID) == [kept.bundleID])
        }
    }
}
