internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// Messages that are accepted before their channel exists.
struct WaitingTests {
    @Test func `when a channel is ready only the newest waiting message is sent`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            let first = try await stores.accept(.update(#"{"n":1}"#))
            let second = try await stores.accept(.update(#"{"n":2}"#))
            #expect(first.deliveries.map(\.state) == [.waiting])
            #expect(try await stores.state(of: first) == .superseded)
            #expect(try await stores.claim().isEmpty)

            stores.clock.advance(by: 3)
            try await stores.provision()
            let waiting = try await stores.delivery(of: second)
            #expect(waiting.state == .queued)
            #expect(waiting.channelID == (try await stores.channel()).channelID)
            let sent = try await stores.sendOne()
            #expect(sent.text.contains(#"{"n":2}"#))
            #expect(try sent.timestamp == 1_700_000_003)
        }
    }

    @Test func `a message that waits for a channel expires at its time, and the lane sleeps until then`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            let accepted = try await stores.accept(.update(expiresIn: 60))
            #expect(try await stores.outbox.nextDue(in: .production) == stores.now.addingTimeInterval(60))
            stores.clock.advance(by: 60)
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.state(of: accepted) == .expired)
            #expect(try await stores.outbox.nextDue(in: .production) == nil)
        }
    }

    @Test func `an end accepted before the channel existed still gets one and is sent`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            let end = try await stores.accept(.end())
            try await stores.provision()
            try await stores.sendOne()
            #expect(try await stores.state(of: end) == .accepted)
        }
    }

    @Test func `waiting messages of a cancelled event are cancelled`() async throws {
        try await withStores { stores in
            let key = try await stores.put(.sample()).specification.key
            let accepted = try await stores.accept(.update())
            try await stores.events.cancel(key, now: stores.now)
            #expect(try await stores.state(of: accepted) == .cancelled)
            #expect(try await stores.outbox.nextDue(in: .production) == nil)
        }
    }
}
