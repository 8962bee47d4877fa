internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

struct LeaseTests {
    private let other = UUID()

    @Test func `after a lease another replica gets the same message with the same bytes, timestamp and request ID`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update())
            let first = try #require(try await stores.claim(lease: 5).first)
            stores.clock.advance(by: 4.5)
            #expect(try await stores.claim(by: other).isEmpty)
            #expect(try await stores.outbox.nextDue(in: .production) == stores.now.addingTimeInterval(0.5))
            stores.clock.advance(by: 0.5)
            let second = try #require(try await stores.claim(by: other).first)
            #expect(second.message == first.message)
            #expect(second.id == first.id)
            #expect(second.attempts == 2)
        }
    }

    @Test func `what a dead replica left gives way to newer state like other waiting messages`() async throws {
        try await withStores { stores in
            try await stores.open()
            let left = try await stores.accept(.update(#"{"n":1}"#))
            let first = try #require(try await stores.claim(lease: 5).first)
            try await stores.accept(.update(#"{"n":2}"#))
            stores.clock.advance(by: 5)
            let second = try #require(try await stores.claim(by: other).first)
            #expect(second.text.contains(#"{"n":2}"#))
            #expect(try second.timestamp > first.timestamp)
            #expect(try await stores.state(of: left) == .superseded)
        }
    }

    @Test func `a result after the lease went to another replica changes nothing`() async throws {
        try await withStores { stores in
            try await stores.open()
            let accepted = try await stores.accept(.update())
            let first = try #require(try await stores.claim(lease: 5).first)
            stores.clock.advance(by: 5)
            let second = try #require(try await stores.claim(by: other).first)
            try await stores.settle(first, .rejected(.badRequest))
            #expect(try await stores.state(of: accepted) == .sending)
            try await stores.outbox.release([first], replica: stores.replica, now: stores.now)
            #expect(try await stores.state(of: accepted) == .sending)
            #expect(try await stores.claim().isEmpty)
            try await stores.settle(second, .ok, by: other)
            #expect(try await stores.state(of: accepted) == .accepted)
        }
    }

    @Test func `a replica's own late result does not free the lane during its next message`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update(#"{"n":1}"#))
            let first = try #require(try await stores.claim(lease: 5).first)
            try await stores.accept(.update(#"{"n":2}"#))
            stores.clock.advance(by: 5)
            let second = try #require(try await stores.claim(lease: 5).first)
            try await stores.settle(first, .ok)
            #expect(try await stores.claim(by: other).isEmpty)
            try await stores.outbox.release([first], replica: stores.replica, now: stores.now)
            #expect(try await stores.claim(by: other).isEmpty)
            try await stores.settle(second, .ok)
            #expect(try await stores.deliveriesNeverDue() == 0)
        }
    }

    @Test func `a released message is back at once and does not count as an attempt`() async throws {
        try await withStores { stores in
            try await stores.open()
            let accepted = try await stores.accept(.update())
            let first = try #require(try await stores.claim(laneInterval: 1).first)
            try await stores.outbox.release([first], replica: stores.replica, now: stores.now)
            #expect(try await stores.state(of: accepted) == .queued)
            #expect(try await stores.delivery(of: accepted).attempts == 0)
            let second = try #require(try await stores.claim(by: other, laneInterval: 1).first)
            #expect(second.message == first.message)
            #expect(second.attempts == 1)
        }
    }

    @Test func `a new channel does not free a lane whose message to the old one is in flight`() async throws {
        try await withStores { stores in
            try await stores.open()
            let old = try await stores.channel()
            try await stores.accept(.update())
            let claimed = try #require(try await stores.claim().first)
            try await stores.forceDeletion(of: old)
            stores.clock.advance(by: 0.5)
            try await stores.provision()
            #expect(try await stores.claim(by: other).isEmpty)
            try await stores.settle(claimed, .retry(at: stores.now.addingTimeInterval(1), reason: "x"))
            stores.clock.advance(by: 1)
            let again = try await stores.sendOne()
            #expect(again.message.channelID == (try await stores.channel()).channelID)
            // The old channel may have got the message. For the new channel it is a different message.
            #expect(again.message.requestID != claimed.message.requestID)
            #expect(try again.timestamp > claimed.timestamp)
        }
    }
}
