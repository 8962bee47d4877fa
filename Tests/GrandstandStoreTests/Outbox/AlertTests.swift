internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// Alerts are sent while they are fresh, each once and in order, and never delay the newest state.
struct AlertTests {
    private static func update(_ n: Int, alert: Bool = false, expiresIn: Int? = nil) -> BroadcastRequest {
        .update(#"{"n":\#(n)}"#, alert: alert ? #"{"title":"Goal \#(n)"}"# : nil, expiresIn: expiresIn)
    }

    /// The number in a message's content and the number in its alert; 0: no alert.
    private static func numbers(_ delivery: ClaimedDelivery) throws -> [Int] {
        func number(after word: String) -> Int? {
            delivery.text.split(separator: word, maxSplits: 1).dropFirst().first.flatMap { rest in
                Int(rest.prefix { $0.isNumber })
            }
        }
        return [try #require(number(after: #"{"n":"#)), number(after: "Goal ") ?? 0]
    }

    private func retry(_ delivery: ClaimedDelivery, after seconds: TimeInterval, _ stores: Stores) async throws {
        try await stores.settle(
            delivery, .retry(at: stores.now.addingTimeInterval(seconds), reason: "ServiceUnavailable"))
    }

    @Test func `after 15 minutes no old alert rings, and only one update with the newest state is sent`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let goals = try await (1...5).asyncMap { try await stores.accept(Self.update($0, alert: true)) }
            stores.clock.advance(by: 900)
            let sent = try await stores.sendOne()
            #expect(try Self.numbers(sent) == [5, 0])
            #expect(!sent.text.contains("alert"))
            #expect(sent.message.priority == .powerAware)
            #expect(try await stores.claim().isEmpty)
            let states = try await goals.asyncMap { try await stores.state(of: $0) }
            #expect(states == [.superseded, .superseded, .superseded, .superseded, .accepted])
            let last = try await stores.delivery(of: goals[4])
            #expect(last.priority == .powerAware)
            #expect(last.reason == "the alert was too old to ring")
        }
    }

    @Test func `an alert rings until its time is over, which expiresIn can set, and a given priority is kept`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(Self.update(1, alert: true))
            stores.clock.advance(by: 899.9)
            #expect(try Self.numbers(try await stores.sendOne()) == [1, 1])
            try await stores.accept(Self.update(2, alert: true, expiresIn: 3_600))
            stores.clock.advance(by: 3_599)
            #expect(try Self.numbers(try await stores.sendOne()) == [2, 2])
            var request = Self.update(3, alert: true)
            request.priority = .immediate
            request.apnsExpiration = 0
            try await stores.accept(request)
            stores.clock.advance(by: 900)
            let sent = try await stores.sendOne()
            #expect(try Self.numbers(sent) == [3, 0])
            #expect(sent.message.priority == .immediate)
            #expect(sent.message.expiration == 0)
        }
    }

    @Test func `an end is sent without its old alert, with the priority of an end`() async throws {
        try await withStores { stores in
            try await stores.open()
            var request = BroadcastRequest.end(#"{"n":1}"#)
            request.payload.alert = Array(#"{"title":"Goal 1"}"#.utf8)
            try await stores.accept(request)
            stores.clock.advance(by: 900)
            let sent = try await stores.sendOne()
            #expect(try Self.numbers(sent) == [1, 0])
            #expect(sent.text.contains(#""event":"end""#))
            #expect(sent.message.priority == .immediate)
        }
    }

    @Test func `recent alerts ring in order as written, then the newest state is sent, then the end`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            for (n, alert) in [(1, true), (2, true), (3, false)] {
                try await stores.accept(Self.update(n, alert: alert))
            }
            #expect(try Self.numbers(try await stores.sendOne()) == [1, 1])
            try await stores.accept(Self.update(4))
            #expect(try Self.numbers(try await stores.sendOne()) == [2, 2])
            try await stores.accept(.end(#"{"n":5}"#))
            #expect(try Self.numbers(try await stores.sendOne()) == [5, 0])
            #expect(try await stores.claim().isEmpty)
        }
    }

    @Test func `newer state does not wait for an alert's retry, but is sent with that alert as another message`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let goal = try await stores.accept(Self.update(1, alert: true))
            let first = try #require(try await stores.claim().first)
            try await retry(first, after: 30, stores)
            #expect(try await stores.claim().isEmpty)
            try await stores.accept(Self.update(2))
            let second = try #require(try await stores.claim().first)
            #expect(try Self.numbers(second) == [2, 1])
            #expect(second.id == first.id)
            #expect(second.attempts == 2)
            #expect(try second.timestamp > first.timestamp)
            #expect(second.message.requestID != first.message.requestID)
            #expect(try await stores.delivery(of: goal).apnsRequestID == second.message.requestID)
            // If nothing newer was accepted, the same message is sent again, with its timestamp and content.
            try await retry(second, after: 30, stores)
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.outbox.nextDue(in: .production) == stores.now.addingTimeInterval(30))
            stores.clock.advance(by: 30)
            let third = try #require(try await stores.claim().first)
            #expect(third.message == second.message)
            try await stores.settle(third, .ok)
            #expect(try Self.numbers(try await stores.sendOne()) == [2, 0])
        }
    }

    @Test func `newer state that comes during an alert is sent after its settlement, not at its retry`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(Self.update(1, alert: true))
            let first = try #require(try await stores.claim(laneInterval: 1).first)
            try await stores.accept(Self.update(2))
            try await retry(first, after: 30, stores)
            #expect(try await stores.outbox.nextDue(in: .production) == stores.now.addingTimeInterval(1))
            stores.clock.advance(by: 1)
            #expect(try Self.numbers(#require(try await stores.claim(laneInterval: 1).first)) == [2, 1])
        }
    }

    @Test func `the reason that an alert did not ring is shown, also after an outage`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            for (age, reason) in [(900.0, "the alert was too old to ring"), (1, nil)] {
                let goal = try await stores.accept(Self.update(1, alert: true))
                for _ in 1...2 {
                    try await retry(#require(try await stores.claim().first), after: age, stores)
                    stores.clock.advance(by: age)
                }
                try await stores.sendOne()
                #expect(try await stores.delivery(of: goal).reason == reason)
            }
        }
    }

    @Test func `Retry-After delays newer state, too`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(Self.update(1, alert: true))
            let first = try #require(try await stores.claim().first)
            let until = stores.now.addingTimeInterval(20)
            try await stores.settle(first, .throttled(until: until, reason: "TooManyRequests"))
            try await stores.accept(Self.update(2))
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.outbox.nextDue(in: .production) == until)
        }
    }

    @Test func `an alert that became too old between two attempts is sent as another message without the alert`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(Self.update(1, alert: true))
            let first = try #require(try await stores.claim(lease: 5).first)
            stores.clock.advance(by: 900)
            // The answer to the first attempt is not known, because the replica that made the attempt was lost and the
            // lease has ended.
            let second = try #require(try await stores.claim().first)
            #expect(try Self.numbers(second) == [1, 0])
            #expect(try second.timestamp > first.timestamp)
            #expect(second.message.requestID != first.message.requestID)
        }
    }

    @Test func `content that was sent with an alert cannot be withdrawn, and no older content follows it`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(Self.update(1, alert: true))
            try await stores.accept(Self.update(2, alert: true))
            let first = try #require(try await stores.claim().first)
            let state = try await stores.accept(Self.update(3, expiresIn: 5))
            try await retry(first, after: 1, stores)
            #expect(try Self.numbers(try await stores.sendOne()) == [3, 1])
            #expect(try await stores.outbox.cancel(state.id, now: stores.now) == false)
            stores.clock.advance(by: 5)
            #expect(try Self.numbers(try await stores.sendOne()) == [3, 2])
            #expect(try await stores.state(of: state) == .expired)
        }
    }

    @Test func `content that expired after it was sent with an alert is not followed by older content`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            for n in 1...2 { try await stores.accept(Self.update(n, alert: true)) }
            let between = try await stores.accept(Self.update(3, alert: true))
            try await stores.accept(Self.update(4, alert: true, expiresIn: 30))
            try await retry(#require(try await stores.claim().first), after: 60, stores)
            let first = try #require(try await stores.claim().first)
            #expect(try Self.numbers(first) == [4, 1])
            try await retry(first, after: 60, stores)
            stores.clock.advance(by: 60)
            #expect(try await stores.sendOne().message == first.message)
            // A message that was never sent can still be withdrawn.
            #expect(try await stores.outbox.cancel(between.id, now: stores.now) == true)
            #expect(try Self.numbers(try await stores.sendOne()) == [4, 2])
        }
    }

    @Test func `an alert and newer state that do not fit into one message are sent one after the other`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let long = String(repeating: "x", count: 2_600)
            try await stores.accept(.update(#"{"n":1}"#, alert: #"{"title":"Goal 1","body":"\#(long)"}"#))
            try await stores.accept(.update(#"{"n":2,"text":"\#(long)"}"#))
            #expect(try Self.numbers(try await stores.sendOne()) == [1, 1])
            #expect(try Self.numbers(try await stores.sendOne()) == [2, 0])
        }
    }

    @Test func `the members that describe the state are sent with it byte for byte, and so is the alert`() async throws
    {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update("{ \"z\":1.50 }", alert: #"{ "title":"\u26bd" }"#))
            var request = BroadcastRequest.update("{ \"z\":2.50 , \"a\":1}")
            request.payload.staleDate = 1_700_000_400
            request.payload.relevanceScore = Array("1e2".utf8)
            try await stores.accept(request)
            try await retry(#require(try await stores.claim().first), after: 1, stores)
            request.payload.alert = Array(#"{ "title":"\u26bd" }"#.utf8)
            #expect(try await stores.sendOne().message.body == request.payload.body(timestamp: 1_700_000_001))
        }
    }
}
