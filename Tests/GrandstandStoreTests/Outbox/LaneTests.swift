internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

struct LaneTests {
    @Test func `one message of a lane is in flight at a time, in order of acceptance`() async throws {
        try await withStores { stores in
            try await stores.open()
            // Each message has an alert, because messages with an alert do not replace each other.
            for n in 1...3 { try await stores.accept(.update(alert: #"{"title":"\#(n)"}"#)) }
            for n in 1...3 {
                let claimed = try await stores.claim()
                #expect(claimed.map { $0.text.contains(#"{"title":"\#(n)"}"#) } == [true])
                #expect(try await stores.claim().isEmpty)
                try await stores.settle(try #require(claimed.first), .ok)
            }
            #expect(try await stores.claim().isEmpty)
        }
    }

    @Test func `a waiting update gives way to a newer one, one with an alert does not, and the end is last`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let requests: [BroadcastRequest] = [
                .update(#"{"n":1}"#), .update(#"{"n":2}"#, alert: "{}"), .update(#"{"n":3}"#), .update(#"{"n":4}"#),
                .end(#"{"n":5}"#),
            ]
            var accepted: [Broadcast] = []
            for request in requests { accepted.append(try await stores.accept(request)) }
            #expect(
                try await accepted.asyncMap { try await stores.state(of: $0) } == [
                    .superseded, .queued, .superseded, .superseded, .queued,
                ])
            #expect(try await stores.delivery(of: accepted[0]).settledAt == stores.now)
            let (alert, end) = (try await stores.sendOne().text, try await stores.sendOne().text)
            #expect(alert.contains(#""alert":{}"#) && alert.contains(#"{"n":2}"#))
            #expect(end.contains(#""event":"end""#) && end.contains(#"{"n":5}"#))
            #expect(try await stores.claim().isEmpty)
        }
    }

    @Test func `a message in flight is not replaced, and newer state waits behind it`() async throws {
        try await withStores { stores in
            try await stores.open()
            let first = try await stores.accept(.update(#"{"n":1}"#))
            let claimed = try #require(try await stores.claim().first)
            let second = try await stores.accept(.update(#"{"n":2}"#))
            let third = try await stores.accept(.update(#"{"n":3}"#))
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.state(of: first) == .sending)
            #expect(try await stores.state(of: second) == .superseded)
            try await stores.settle(claimed, .ok)
            #expect(try await stores.sendOne().text.contains(#"{"n":3}"#))
            #expect(try await stores.state(of: third) == .accepted)
        }
    }

    @Test func `an end closes the lane, and later updates, ends and scheduled messages are refused`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.end())
            let later = stores.now.addingTimeInterval(60)
            for request: BroadcastRequest in [.update(), .end(), .update(sendAt: later)] {
                #expect(try await problem { try await stores.accept(request) } == .eventEnded)
            }
            try await stores.sendOne()
            #expect(try await problem { try await stores.accept(.update()) } == .eventEnded)
        }
    }

    @Test func `an end for some audiences closes only these, and the event is over with the last`() async throws {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            let key = try await stores.open(audiences: audiences)
            try await stores.accept(.end(audiences: [audiences[0].id]))
            #expect(try await stores.events.event(key, now: stores.now)?.state == .scheduled)
            let rest = try await stores.accept(.update())
            #expect(rest.deliveries.map(\.bundleID.rawValue) == ["com.example.B"])
            #expect(
                try await problem { try await stores.accept(.update(audiences: [audiences[0].id])) }
                    == .eventEnded)
            try await stores.accept(.end())
            #expect(try await stores.events.event(key, now: stores.now)?.state == .ended)
            #expect(try await problem { try await stores.accept(.update()) } == .eventEnded)
        }
    }

    @Test func `the timestamp rises with every message of a lane, even with several per second`() async throws {
        try await withStores { stores in
            try await stores.open()
            var sent: [Int] = []
            for step in [0, 0.2, 0.2, 0, 0.5] {
                stores.clock.advance(by: step)
                try await stores.accept(.update())
                sent.append(try await stores.sendOne().timestamp)
            }
            #expect(sent == [1_700_000_000, 1_700_000_001, 1_700_000_002, 1_700_000_003, 1_700_000_004])
            stores.clock.advance(by: 100.75)
            try await stores.accept(.update())
            #expect(try await stores.sendOne().timestamp == 1_700_000_101)
        }
    }

    @Test func `the first message is sent at once, and the next after the interval with the newest content`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update(#"{"n":1}"#))
            let first = try #require(try await stores.claim(laneInterval: 1).first)
            stores.clock.advance(by: 0.25)
            try await stores.settle(first, .ok)
            try await stores.accept(.update(#"{"n":2}"#))
            #expect(try await stores.claim(laneInterval: 1).isEmpty)
            #expect(try await stores.outbox.nextDue(in: .production) == stores.now.addingTimeInterval(0.75))
            stores.clock.advance(by: 0.5)
            try await stores.accept(.update(#"{"n":3}"#))
            #expect(try await stores.claim(laneInterval: 1).isEmpty)
            stores.clock.advance(by: 0.25)
            #expect(try await stores.claim(laneInterval: 1).map { $0.text.contains(#"{"n":3}"#) } == [true])
        }
    }

    @Test func `a late claim does not delay the next message`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update(#"{"n":1}"#))
            try await stores.settle(#require(try await stores.claim(laneInterval: 1).first), .ok)
            try await stores.accept(.update(#"{"n":2}"#))
            stores.clock.advance(by: 1.25)
            try await stores.settle(#require(try await stores.claim(laneInterval: 1).first), .ok)
            try await stores.accept(.update(#"{"n":3}"#))
            #expect(try await stores.outbox.nextDue(in: .production) == stores.now.addingTimeInterval(0.75))
        }
    }

    @Test func `a message that waited behind another is also sent after the interval`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update(#"{"n":1}"#))
            let first = try #require(try await stores.claim(laneInterval: 1).first)
            try await stores.accept(.update(#"{"n":2}"#))
            stores.clock.advance(by: 0.25)
            try await stores.settle(first, .ok)
            #expect(try await stores.outbox.nextDue(in: .production) == stores.now.addingTimeInterval(0.75))
            #expect(try await stores.claim().isEmpty)
            stores.clock.advance(by: 0.75)
            #expect(try await stores.claim().count == 1)
        }
    }

    @Test func `lanes do not wait for each other, and a claim takes no more than requested`() async throws {
        try await withStores { stores in
            for n in 1...5 { try await stores.put(.sample("match-\(n)")) }
            try await stores.provision()
            for n in 1...5 { try await stores.accept(.update(), for: "match-\(n)") }
            let two = try await stores.claim(limit: 2)
            let rest = try await stores.claim(limit: 100)
            #expect(two.count == 2)
            #expect(rest.count == 3)
            #expect(Set((two + rest).map(\.lane)).count == 5)
        }
    }
}
