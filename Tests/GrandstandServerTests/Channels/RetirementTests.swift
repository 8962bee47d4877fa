internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

struct RetirementTests {
    /// When the channel of the event will be deleted.
    private func retireAt(_ stores: StoreWorld) async throws -> Date? {
        let channel = try await stores.channel()
        #expect(channel.state == .retiring)
        return channel.nextAttemptAt
    }

    /// A policy, messages, and how many seconds the channel is kept after the last one, if ended events keep theirs for a
    /// minute.
    private static let keeping: [(StoragePolicy, [Contract.BroadcastDraft], Double)] = {
        var notStored = Contract.BroadcastDraft.update()
        notStored.apnsExpiration = 0
        return [
            // A stored message, until it expires; not one that was not stored; a dismissal date, until it has passed.
            (.mostRecentMessageStored, [.update(expiresIn: 28_000), .end(expiresIn: 60)], 28_000),
            (.mostRecentMessageStored, [notStored, .end(expiresIn: 50)], 60),
            (.noMessageStored, [.end(dismissalDate: 1_700_014_000)], 14_000),
        ]
    }()

    @Test(arguments: keeping)
    func `a channel is kept for what devices may still need, and then deleted`(
        policy: StoragePolicy, messages: [Contract.BroadcastDraft], seconds: Double
    ) async throws {
        try await withStores { stores in
            try await stores.open(audiences: [.sample("com.example.Goal", .production, policy)])
            for message in messages {
                try await stores.accept(message)
                try await stores.sendOne()
            }
            _ = try await stores.channels.align(now: stores.now, tenure: ChannelTenure(retireAfter: 60))
            let at = stores.now + seconds
            #expect(try await retireAt(stores) == at)
            #expect(try await stores.nextDueChannel() == at)
            #expect(try await stores.claimChannels().isEmpty)
            stores.clock.advance(by: seconds)
            #expect(try await stores.provision().map(\.state) == [.deleted])
        }
    }

    @Test func `cancelling an event retires its channel, and deletes one that Apple was not yet asked for`()
        async throws
    {
        try await withStores { stores in
            let key = try await stores.open()
            try await stores.put(.sample(), as: "waiting")
            try await stores.align()
            for key in [key, try .sample("waiting")] { try await stores.cancel(key) }
            stores.clock.advance(by: 60)
            try await stores.align()
            #expect(try await retireAt(stores) == stores.now.addingTimeInterval(StoreWorld.retireAfter - 60))
            #expect(try await stores.channel(of: "waiting").state == .deleted)
            #expect(try await stores.claimChannels().isEmpty)
        }
    }

    @Test func `a planned channel of a cancelled event stays while Apple is being asked to create it`() async throws {
        try await withStores { stores in
            let key = try await stores.put(.sample()).eventKey
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            try await stores.cancel(key)
            #expect(try await stores.align() == 0)
            try await stores.record(.created(channelID: "late"), of: task)
            try await stores.align()
            #expect(try await stores.channel().state == .retiring)
        }
    }
}

/// Events without an end.
@Suite(.timeLimit(.minutes(20)))
struct OverdueTests {
    @Test func `an event whose end was never sent expires twelve hours after endsAt, with an audit entry`()
        async throws
    {
        try await withStores { stores in
            let endsAt = stores.now + 3_600
            try await stores.put(.sample(endsAt: endsAt))
            try await stores.put(.sample(startsAt: endsAt), as: "no-end")
            try await stores.provision()
            stores.clock.advance(by: 3_600 + 12 * 3_600 - 1)
            try await stores.align()
            #expect(try await stores.event()?.state != .ended)
            stores.clock.advance(by: 1)
            try await stores.align()
            #expect(try await stores.event()?.state == .ended)
            #expect(try await stores.channel().state == .retiring)
            #expect(try await stores.channel(of: "no-end").state == .active)
            try await refuses(.eventEnded) { try await stores.accept(.update()) }
            let entries = try await stores.audited(AuditFilter(action: .eventExpired))
            #expect(entries.map(\.eventKey) == ["match-1"])
        }
    }

    /// Whether the server closed the event by itself.
    private func isClosed(_ stores: StoreWorld, _ key: String = "match-1") async throws -> Bool {
        try await stores.align()
        return try await stores.event(key)?.state == .ended
    }

    @Test func `an event that has not begun, opens later or has a scheduled message is not quiet`()
        async throws
    {
        try await withStores { stores in
            let later = stores.now + 90 * 3_600
            try await stores.put(.sample(startsAt: later), as: "future")
            try await stores.put(.sample(channelsOpenAt: later), as: "opening")
            try await stores.open("planned")
            try await stores.accept(.update(sendAt: later), for: "planned")
            stores.clock.advance(by: 60 * 3_600)
            for key in ["future", "opening", "planned"] { #expect(try await !isClosed(stores, key)) }
            stores.clock.advance(by: 30 * 3_600)
            while try await stores.promote() > 0 {}
            try await stores.sendOne()
            // The time when a message is sent counts, not the time of its acceptance.
            stores.clock.advance(by: 48 * 3_600 - 1)
            for key in ["future", "opening", "planned"] { #expect(try await !isClosed(stores, key)) }
            stores.clock.advance(by: 1)
            for key in ["future", "opening", "planned"] { #expect(try await isClosed(stores, key)) }
        }
    }

    @Test func `an expired event opens again when its end is moved, with the channel that still exists`() async throws {
        try await withStores { stores in
            try await stores.put(.sample(endsAt: stores.now + 3_600))
            try await stores.provision()
            let channel = try await stores.channel()
            stores.clock.advance(by: 20 * 3_600)
            #expect(try await isClosed(stores))
            #expect(try await stores.channel().state == .retiring)
            // A declaration with an end in the past is refused, and the refusal says what to do.
            let refusal = await #expect(throws: Problem.self) { try await stores.put(.sample(endsAt: stores.now)) }
            #expect(refusal?.kind == .eventEnded && refusal?.detail.contains("endsAt in the future") == true)
            let event = try await stores.put(.sample(endsAt: stores.now + 7_200))
            #expect(event.state != .ended && event.channels.map(\.state) == [.active])
            try await stores.align()
            #expect(try await stores.channel().id == channel.id)
            #expect(try await stores.lookup()?.channelId == channel.channelID)
            try await stores.accept(.update())
            #expect(try await stores.sendOne().message.channelID == channel.channelID)
        }
    }
}
