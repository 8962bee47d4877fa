internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

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
                #expect(shard.text.contains(#""content-state":{"home":1.50}"#))
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
                let again = world.now + 3
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
            #expect(try await world.stores.rows("activities where in_crowd") == 2)
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
            #expect(late.text.contains(#"{"n":7}"#))
            #expect(!late.text.contains("Goal"))
            #expect(late.push.message.priority == .powerAware)
            // A push that was not sent remains queued, and is claimed again.
            try await world.settle(late) { _ in nil }
            world.stores.clock.advance(by: 10)
            try await world.settle(try #require(try await world.claim().first))
            #expect(try await world.claim().isEmpty)
            #expect(try await world.crowds.nextDue(in: .production) == nil)
        }
    }

    @Test func `with newer content an alert goes only to tokens that cannot have had it`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            for n in 1...2 { try await world.show("aa0\(n)") }
            try await world.stores.accept(.update(#"{"n":1}"#, alert: #"{"title":"Goal"}"#))
            // The replica dies, and nobody knows whether this push arrived.
            #expect(try await world.claim(size: 1).first?.members.map(\.token.hex) == ["aa01"])
            try await world.stores.accept(.update(#"{"n":2}"#))
            world.stores.clock.advance(by: 11)
            let goal = try #require(try await world.claim(by: UUID()).first)
            #expect(goal.members.map(\.token.hex) == ["aa02"])
            #expect(goal.text.contains("Goal") && goal.text.contains(#"{"n":2}"#))
            world.stores.clock.advance(by: 11)
            // The second replica died, too. So nobody is left who cannot have had the alert.
            #expect(try await world.claim().isEmpty)
            let quiet = try #require(try await world.claim().first)
            #expect(quiet.members.map(\.token.hex) == ["aa01", "aa02"])
            #expect(!quiet.text.contains("Goal") && quiet.text.contains(#"{"n":2}"#))
        }
    }

    @Test func `a phone with few pushes gets the newest silent one each minute, and ringing alerts at once`()
        async throws
    {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.show("aa01")
            try await world.show("aa02", frequent: false)
            try await world.stores.accept(.update(#"{"n":1}"#, priority: .immediate))
            let first = try #require(try await world.claim().first)
            #expect(first.members.map { first.requests()($0).priority } == [.immediate, .powerAware])
            try await world.settle(first)
            // Another activity joins and gets the content that the others have. It gets this push later than the
            // others, so its minute until the next push also ends later.
            world.stores.clock.advance(by: 10)
            try await world.show("aa03", frequent: false)
            try await world.sendAll()
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            let shard = try #require(try await world.claim().first)
            #expect(shard.members.map(\.token.hex) == ["aa01"])
            try await world.settle(shard)
            let early = try await world.tokens(of: second)
            #expect(early.state == .queued)
            #expect(early.counts.map { [$0.total, $0.accepted, $0.pending] } == [3, 1, 2])
            #expect(try await world.crowds.nextDue(in: .production) == world.now + 50)
            world.stores.clock.advance(by: 1)
            let third = try await world.stores.accept(.update(#"{"n":3}"#))
            // Every activity whose pause is over has got the second message.
            #expect(try await world.tokens(of: second).state == .accepted)
            try await world.sendAll()
            for (seconds, token) in [(49.0, "aa02"), (10, "aa03")] {
                #expect(try await world.claim().isEmpty)
                world.stores.clock.advance(by: seconds)
                let late = try #require(try await world.claim().first)
                #expect(late.members.map(\.token.hex) == [token] && late.text.contains(#"{"n":3}"#))
                try await world.settle(late)
            }
            let done = try await world.tokens(of: third)
            #expect((done.state, done.counts?.accepted) == (.accepted, 3))
            #expect(try await world.waiting() == 0)
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(.update(#"{"n":4}"#, alert: #"{"title":"Goal"}"#))
            let goal = try #require(try await world.claim().first)
            #expect(goal.members.map { goal.requests()($0).priority } == [.immediate, .immediate, .immediate])
        }
    }

    // MARK: Each token belongs to one of several audiences

    private static let goal = BroadcastRequest.update(
        #"{"n":1}"#, byVariant: ["de": (#"{"n":"eins"}"#, nil), "fr": (#"{"n":"un"}"#, nil)])

    private func audiences(_ names: String?...) throws -> [Audience] { try names.map { try .sample(variant: $0) } }

    @Test func `each token gets the content of its own variant, also when it comes late`() async throws {
        try await withCrowds { world in
            try await world.stores.open(audiences: audiences("de", "fr"))
            let german = try await world.show("aa01", variant: "de")
            let french = try await world.show("aa02", variant: "fr")
            try await world.show("aa04", variant: "fr")
            let broadcast = try await world.stores.accept(Self.goal)
            #expect(broadcast.deliveries.compactMap { $0.counts?.total } == [1, 2])
            let shards = try await world.claim()
            #expect(shards.map { $0.members[0].row }.sorted() == [german, french])
            for shard in shards {
                #expect(shard.text.contains(shard.members[0].row == german ? #"{"n":"eins"}"# : #"{"n":"un"}"#))
                try await world.settle(shard)
            }
            try await world.show("aa03", variant: "fr")
            let late = try #require(try await world.claim().first)
            #expect(late.text.contains(#"{"n":"un"}"#))
            try await world.settle(late)
        }
    }

    @Test func `tokens of a removed variant get the content of the audience that replaces it`() async throws {
        try await withCrowds { world in
            try await world.stores.open(audiences: audiences("de", "fr"))
            try await world.show("aa01", variant: "de")
            try await world.show("aa02", variant: "fr")
            try await world.stores.accept(Self.goal)
            try await world.sendAll()

            try await world.stores.put(.sample(audiences: audiences("fr")))
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(.update(#"{"n":2}"#, byVariant: ["fr": (#"{"n":"deux"}"#, nil)]))
            let shards = try await world.claim()
            #expect(shards.flatMap(\.members).count == 2)
            for shard in shards {
                #expect(shard.text.contains(#"{"n":"deux"}"#))
                try await world.settle(shard)
            }
            // The audience `de` returns, and takes its own tokens again.
            try await world.stores.put(.sample(audiences: audiences("fr", "de")))
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(Self.goal)
            #expect(
                Set(try await world.claim().map { $0.text.contains("eins") ? "de" : "fr" }) == ["de", "fr"])
        }
    }
}
