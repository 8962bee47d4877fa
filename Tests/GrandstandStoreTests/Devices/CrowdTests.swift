internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Broadcasts to activities that have a token and no channel.
struct CrowdTests {
    @Test func `a broadcast has an additional entry for tokens, and reaches each token once, in shards`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            for n in 1...5 { try await world.show("aa0\(n)") }
            let accepted = try await world.stores.accept(.update(#"{"home":1.50}"#))
            #expect(accepted.deliveries.map { $0.counts == nil } == [true, false])
            let waiting = try #require(accepted.deliveries[1].counts)
            #expect((waiting.total, waiting.accepted, waiting.pending) == (5, 0, 5))
            var sent: [String] = []
            var requestIDs: [UUID] = []
            for _ in 0..<3 {
                let shard = try #require(try await world.claim(size: 2).first)
                #expect(String(decoding: shard.body, as: UTF8.self).contains(#""content-state":{"home":1.50}"#))
                sent += shard.members.map(\.token.hex)
                requestIDs += shard.members.map { shard.requests()($0).requestID }
                try await world.settle(shard)
            }
            #expect(Set(requestIDs).count == 5)
            #expect(sent == ["aa01", "aa02", "aa03", "aa04", "aa05"])
            #expect(try await world.claim().isEmpty)
            let tokens = try await world.tokens(of: accepted)
            #expect(tokens.state == .accepted)
            let counts = try #require(tokens.counts)
            #expect((counts.total, counts.accepted, counts.pending) == (5, 5, 0))
            // Sending to the tokens does not settle the channel's message.
            #expect(try await world.stores.claim().count == 1)
        }
    }

    @Test func `an app with a refused key is skipped until its next probe, and loses nothing`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.show("aa01")
            try await world.stores.accept(.update(#"{"n":1}"#))
            #expect(try await world.claim(avoiding: [.sample()]).isEmpty)
            for _ in 0..<8 {
                let shard = try #require(try await world.claim(avoiding: [.sample("com.example.Other")]).first)
                let again = world.now.addingTimeInterval(3)
                try await world.settle(shard) { _ in .retry(at: again, reason: "InvalidProviderToken") }
                #expect(try await world.claim().isEmpty)
                world.stores.clock.advance(by: 3)
            }
            try await world.settle(try #require(try await world.claim().first))
            // An activity that joins late also waits for the app's next probe.
            try await world.show("aa02")
            #expect(try await world.claim(avoiding: [.sample()]).isEmpty)
            #expect(try await world.claim().first?.members.map(\.token.hex) == ["aa02"])
        }
    }

    @Test func `newer state replaces a message that is being sent to a crowd`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            for n in 1...4 { try await world.show("aa0\(n)") }
            let first = try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.settle(try #require(try await world.claim(size: 2).first))
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            #expect(try await world.claim().isEmpty)
            world.stores.clock.advance(by: 1)
            let shard = try #require(try await world.claim().first)
            #expect(shard.members.count == 4)
            #expect(String(decoding: shard.body, as: UTF8.self).contains(#"{"n":2}"#))
            try await world.settle(shard)
            let old = try await world.tokens(of: first)
            #expect(old.state == .superseded)
            #expect(old.counts.map { [$0.total, $0.accepted, $0.pending] } == [4, 2, 0])
            #expect(try await world.tokens(of: second).state == .accepted)
        }
    }

    @Test func `after a replica dies another one repeats its shard with the same timestamp`()
        async throws
    {
        try await withCrowds { world in
            try await world.stores.open()
            for n in 1...3 { try await world.show("aa0\(n)") }
            let accepted = try await world.stores.accept(.update())
            let lost = try #require(try await world.claim(size: 2, lease: 5).first)
            #expect(try await world.claim().isEmpty)
            world.stores.clock.advance(by: 5)
            let other = UUID()
            let again = try #require(try await world.claim(size: 2, by: other).first)
            #expect(again.body == lost.body)
            #expect(again.members == lost.members)
            #expect(again.members.map { again.requests()($0) } == lost.members.map { lost.requests()($0) })
            try await world.settle(lost)
            #expect(try await world.tokens(of: accepted).counts?.accepted == 0)
            try await world.settle(again, by: other)
            try await world.settle(try #require(try await world.claim().first))
            #expect(try await world.tokens(of: accepted).counts?.accepted == 3)
        }
    }

    @Test func `answers remove invalid tokens, and are counted`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            for n in 1...4 { try await world.show("aa0\(n)") }
            world.stores.clock.advance(by: 10)
            let accepted = try await world.stores.accept(.update())
            let verdicts: [String: TokenVerdict] = [
                "aa01": .gone(reason: "Unregistered", since: world.now), "aa02": .suspect(reason: "BadDeviceToken"),
                "aa03": .unknown(reason: "lost"),
            ]
            try await world.settle(try #require(try await world.claim().first)) { verdicts[$0.token.hex] ?? .accepted }
            #expect(try await world.inCrowd() == 2)
            var tokens = try await world.tokens(of: accepted)
            #expect(tokens.state == .queued)
            #expect(tokens.counts.map { [$0.accepted, $0.rejected, $0.gone, $0.pending] } == [1, 1, 1, 1])
            world.stores.clock.advance(by: 60)
            let again = try #require(try await world.claim().first)
            #expect(again.members.map(\.token.hex) == ["aa03"])
            try await world.settle(again)
            tokens = try await world.tokens(of: accepted)
            #expect(tokens.state == .accepted)
            #expect(
                tokens.counts.map { [$0.total, $0.accepted, $0.rejected, $0.gone, $0.pending] } == [4, 2, 1, 1, 0])
        }
    }

    @Test func `an end closes the crowd with its audience`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.show("aa01")
            try await world.stores.accept(.end())
            let shard = try #require(try await world.claim().first)
            #expect(String(decoding: shard.body, as: UTF8.self).contains(#""event":"end""#))
            try await world.settle(shard)
            #expect(try await problem { try await world.stores.accept(.update()) } == .eventEnded)
            world.stores.clock.advance(by: 60)
            #expect(try await world.claim().isEmpty)
        }
    }

    @Test func `a token that comes late gets the newest content once`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.show("aa01")
            try await world.stores.accept(.update(#"{"n":7}"#, alert: #"{"title":"Goal"}"#))
            let first = try #require(try await world.claim().first)
            try await world.settle(first)
            try await world.show("aa02")
            let late = try #require(try await world.claim().first)
            #expect(late.members.map(\.token.hex) == ["aa02"])
            #expect(String(decoding: late.body, as: UTF8.self).contains(#"{"n":7}"#))
            #expect(!String(decoding: late.body, as: UTF8.self).contains("Goal"))
            #expect(late.priority == .powerAware)
            // A push that was not sent remains queued, and is claimed again.
            try await world.settle(late) { _ in nil }
            world.stores.clock.advance(by: 10)
            try await world.settle(try #require(try await world.claim().first))
            #expect(try await world.claim().isEmpty)
            #expect(try await world.crowds.nextDue(in: .production) == nil)
        }
    }

    @Test func `phones with few pushes get one silent push a minute, each by its own pushes`()
        async throws
    {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.show("aa01")
            try await world.show("aa02", frequent: false)
            let first = try await world.stores.accept(.update(#"{"n":1}"#, priority: .immediate))
            #expect(first.deliveries.count == 2)
            for shard in try await world.claim() {
                #expect(shard.members.map { shard.requests()($0).priority } == [.immediate, .powerAware])
                try await world.settle(shard)
            }
            #expect(try await world.tokens(of: first).counts?.accepted == 2)
            // Another activity joins and gets the content that the others have. It gets this push later than the
            // others, so its minute until the next push also ends later.
            world.stores.clock.advance(by: 10)
            try await world.show("aa03", frequent: false)
            for shard in try await world.claim() { try await world.settle(shard) }
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            let shards = try await world.claim()
            #expect(shards.flatMap(\.members).map(\.token.hex) == ["aa01"])
            for shard in shards { try await world.settle(shard) }
            let early = try await world.tokens(of: second)
            #expect(early.state == .queued)
            #expect(early.counts.map { [$0.total, $0.accepted, $0.pending] } == [3, 1, 2])
            #expect(try await world.crowds.nextDue(in: .production) == world.now.addingTimeInterval(50))
            for (seconds, token) in [(50.0, "aa02"), (10, "aa03")] {
                #expect(try await world.claim().isEmpty)
                world.stores.clock.advance(by: seconds)
                let shard = try #require(try await world.claim().first)
                #expect(shard.members.map(\.token.hex) == [token])
                try await world.settle(shard)
            }
            #expect(try await world.tokens(of: second).state == .accepted)
            #expect(try await world.tokens(of: second).counts?.accepted == 3)
            #expect(try await world.stores.count("select count(*) as n from fan_out_queue") == 0)
        }
    }

    @Test
    func
        `a resting phone gets the newest content of the minute and ringing alerts at once, and others get each message`()
        async throws
    {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.show("aa01")
            try await world.show("aa02", frequent: false)
            try await world.stores.accept(.update(#"{"n":1}"#))
            for shard in try await world.claim() { try await world.settle(shard) }
            world.stores.clock.advance(by: 1)
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            for shard in try await world.claim() { try await world.settle(shard) }
            world.stores.clock.advance(by: 1)
            let third = try await world.stores.accept(.update(#"{"n":3}"#))
            // Every activity whose pause is over has got the second message.
            let tokens = try await world.tokens(of: second)
            #expect(tokens.state == .accepted)
            #expect(tokens.counts.map { [$0.total, $0.accepted, $0.pending] } == [2, 1, 0])
            for shard in try await world.claim() { try await world.settle(shard) }
            world.stores.clock.advance(by: 58)
            let late = try #require(try await world.claim().first)
            #expect(late.members.map(\.token.hex) == ["aa02"])
            #expect(String(decoding: late.body, as: UTF8.self).contains(#"{"n":3}"#))
            try await world.settle(late)
            #expect(try await world.tokens(of: third).state == .accepted)
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(.update(#"{"n":4}"#, alert: #"{"title":"Goal"}"#))
            let goal = try #require(try await world.claim().first)
            #expect(goal.members.map { goal.requests()($0).priority } == [.immediate, .immediate])
        }
    }

    @Test func `a body too large for tokens goes to the channel, is rejected for tokens, and gives a warning`()
        async throws
    {
        try await withCrowds { world in
            try await world.stores.open()
            let large = #"{"t":"\#(String(repeating: "x", count: 4_200))"}"#
            try await world.show("aa01")
            let accepted = try await world.stores.accept(.update(large))
            #expect(accepted.deliveries.map(\.state) == [.queued, .rejected])
            #expect(accepted.warnings.contains { $0.contains("reached by token: Apple takes 4096 there") })
            #expect(try await world.tokens(of: accepted).reason == "PayloadTooLarge")
            try await world.stores.sendOne()
            #expect(try await world.claim().isEmpty)
        }
    }

    @Test func `a body that no lane accepts is refused before anything is queued`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.reach(by: .tokens)
            let large = #"{"t":"\#(String(repeating: "x", count: 4_200))"}"#
            #expect(try await problem { try await world.stores.accept(.update(large)) } == .payloadTooLarge)
        }
    }

    @Test func `timestamps continue the channel's, because an activity may have used it before`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            for _ in 0..<3 {
                try await world.stores.accept(.update())
                try await world.stores.sendOne()
            }
            try await world.show("aa01")
            for shard in try await world.claim() { try await world.settle(shard) }
            try await world.stores.accept(.update())
            let shard = try #require(try await world.claim().first)
            #expect(String(decoding: shard.body, as: UTF8.self).contains(#""timestamp":1700000003"#))
        }
    }
}
