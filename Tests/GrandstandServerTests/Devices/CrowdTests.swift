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
        let all = (1...5).map { "aa0\($0)" }
        try await withCrowd(all) { world in
            let accepted = try await world.stores.accept(.update(#"{"home":1.50}"#))
            #expect(accepted.deliveries.map { $0.counts == nil } == [true, false])
            let waiting = try #require(accepted.deliveries[1].counts)
            #expect((waiting.total, waiting.accepted, waiting.pending) == (5, 0, 5))
            var sent: [String] = []
            var requestIDs: [UUID] = []
            for _ in 0..<3 {
                let shard = try await world.push(size: 2)
                #expect(shard.text.contains(#""content-state":{"home":1.50}"#))
                sent += shard.members.map(\.token.hex)
                requestIDs += shard.members.map { shard.request(for: $0).requestID }
            }
            #expect(Set(requestIDs).count == 5 && sent == all)
            #expect(try await world.claim().isEmpty)
            let tokens = try await world.tokens(of: accepted)
            #expect(tokens.state == .accepted && tokens.counts?.accepted == 5 && tokens.counts?.pending == 0)
            // Sending to the tokens does not settle the channel's message.
            #expect(try await world.stores.claim().count == 1)
            // A token that comes late gets the newest content once, and without its alert.
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(.update(#"{"n":7}"#, alert: #"{"title":"Goal"}"#))
            try await world.push()
            try await world.show("aa06")
            let late = try await world.push()
            #expect(late.members.map(\.token.hex) == ["aa06"] && late.pushes[0].priority == .powerAware)
            #expect(late.text.contains(#"{"n":7}"#) && !late.text.contains("Goal"))
            #expect(try await world.claim().isEmpty)
            #expect(try await world.nextDue() == nil)
        }
    }

    /// Each shard begins after the last token of the shard before.
    @Test func `a token that lacks the message after its place was passed gets it in the end`() async throws {
        try await withCrowd(["aa01", "aa02", "aa03"]) { world in
            let accepted = try await world.stores.accept(.update())
            try await world.push(size: 2)
            try await world.stores.pool.query("update activities set has = -1 where update_token = '\\xaa01'")
            #expect(try await world.push(size: 2).members.map(\.token.hex) == ["aa03"])
            #expect(try await world.push(size: 2).members.map(\.token.hex) == ["aa01"])
            #expect(try await world.tokens(of: accepted).state == .accepted)
        }
    }

    @Test func `an app with a refused key is skipped until its next probe, and loses nothing`() async throws {
        try await withCrowd { world in
            try await world.stores.accept(.update(#"{"n":1}"#))
            #expect(try await world.claim(avoiding: [.sample()]).isEmpty)
            for _ in 0..<8 {
                let again = world.now + 3
                try await world.push { _ in .retry(at: again, reason: "InvalidProviderToken") }
                #expect(try await world.claim().isEmpty)
                world.stores.clock.advance(by: 3)
            }
            try await world.push()
            // An activity that joins late also waits for the app's next probe.
            try await world.show("aa02")
            #expect(try await world.claim(avoiding: [.sample()]).isEmpty)
            #expect(try await world.claim(avoiding: [.sample("com.example.Other")]).first?.members.count == 1)
        }
    }

    @Test func `answers remove invalid tokens, and are counted`() async throws {
        try await withCrowd(["aa01", "aa02", "aa03", "aa04"]) { world in
            world.stores.clock.advance(by: 10)
            let accepted = try await world.stores.accept(.update())
            let verdicts: [String: TokenVerdict] = [
                "aa01": .gone(reason: "Unregistered", since: world.now), "aa02": .suspect(reason: "BadDeviceToken"),
                "aa03": .unknown(reason: "lost"),
            ]
            try await world.push { verdicts[$0.token.hex] ?? .accepted }
            #expect(try await world.stores.rows("activities where in_crowd") == 2)
            var tokens = try await world.tokens(of: accepted)
            func counts() -> [Int]? { tokens.counts.map { [$0.total, $0.accepted, $0.rejected, $0.gone, $0.pending] } }
            #expect(tokens.state == .queued && counts() == [4, 1, 1, 1, 1])
            world.stores.clock.advance(by: 60)
            #expect(try await world.push().members.map(\.token.hex) == ["aa03"])
            tokens = try await world.tokens(of: accepted)
            #expect(tokens.state == .accepted && counts() == [4, 2, 1, 1, 0])
        }
    }

    @Test func `a phone with few pushes gets the newest silent one each minute, and alerts at once`() async throws {
        try await withCrowd { world in
            try await world.show("aa02", frequent: false)
            try await world.stores.accept(.update(#"{"n":1}"#, priority: .immediate))
            let first = try await world.push()
            #expect(first.members.map { first.request(for: $0).priority } == [.immediate, .powerAware])
            // Another activity joins and gets the content that the others have. It gets this push later than the
            // others, so its minute until the next push also ends later.
            world.stores.clock.advance(by: 10)
            try await world.show("aa03", frequent: false)
            try await world.sendAll()
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            #expect(try await world.push().members.map(\.token.hex) == ["aa01"])
            let early = try await world.tokens(of: second)
            #expect(early.state == .queued)
            #expect(early.counts.map { [$0.total, $0.accepted, $0.pending] } == [3, 1, 2])
            #expect(try await world.nextDue() == world.now + 50)
            world.stores.clock.advance(by: 1)
            let third = try await world.stores.accept(.update(#"{"n":3}"#))
            // Every activity whose pause is over has got the second message.
            #expect(try await world.tokens(of: second).state == .accepted)
            try await world.sendAll()
            for (seconds, token) in [(49.0, "aa02"), (10, "aa03")] {
                #expect(try await world.claim().isEmpty)
                world.stores.clock.advance(by: seconds)
                let late = try await world.push()
                #expect(late.members.map(\.token.hex) == [token] && late.text.contains(#"{"n":3}"#))
            }
            let done = try await world.tokens(of: third)
            #expect((done.state, done.counts?.accepted) == (.accepted, 3))
            #expect(try await world.waiting() == 0)
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(.update(#"{"n":4}"#, alert: #"{"title":"Goal"}"#))
            let goal = try #require(try await world.claim().first)
            #expect(goal.members.map { goal.request(for: $0).priority } == [.immediate, .immediate, .immediate])
        }
    }

    // MARK: Each token belongs to one of several audiences

    private static let goal = Contract.BroadcastDraft.update(
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
            #expect(try await world.push().text.contains(#"{"n":"un"}"#))
            // Tokens of a removed variant get the content of the audience that replaces it.
            try await world.stores.put(.sample(audiences: audiences("fr")))
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(.update(#"{"n":2}"#, byVariant: ["fr": (#"{"n":"deux"}"#, nil)]))
            let others = try await world.claim()
            #expect(others.flatMap(\.members).count == 4)
            for shard in others {
                #expect(shard.text.contains(#"{"n":"deux"}"#))
                try await world.settle(shard)
            }
            // The audience `de` returns, and takes its own tokens again.
            try await world.stores.put(.sample(audiences: audiences("fr", "de")))
            world.stores.clock.advance(by: 2)
            try await world.stores.accept(Self.goal)
            #expect(Set(try await world.claim().map { $0.text.contains("eins") }) == [true, false])
        }
    }
}

/// Activities whose token arrived after the others had got a message.
@Suite(.timeLimit(.minutes(20)))
struct CrowdJoinTests {
    @Test func `a token that comes after the end gets the end with its dismissal, while that is useful`() async throws {
        try await withCrowd([]) { world in
            try await world.stores.accept(.update())
            try await world.stores.sendOne()
            world.stores.clock.advance(by: 60)
            let dismissal = Int(world.now.timeIntervalSince1970) + 600
            try await world.stores.accept(.end(dismissalDate: dismissal))
            let end = try await world.stores.sendOne()
            // This is the first token of the event, so there was no crowd before.
            world.stores.clock.advance(by: 5)
            try await world.show("aa01")
            let late = try await world.push()
            for part in [#""event":"end""#, #""dismissal-date":\#(dismissal)"#] { #expect(late.text.contains(part)) }
            #expect(late.pushes[0].priority == .immediate)
            #expect(try late.timestamp > end.timestamp)
            // Phones with few pushes get it at priority 5.
            try await world.show("aa03", frequent: false)
            let quiet = try await world.push()
            #expect(quiet.members.map { quiet.request(for: $0).priority } == [.powerAware])
            #expect(try await world.waiting() == 0)
            world.stores.clock.advance(by: CatchUp.endLifetime)
            try await world.show("aa02")
            #expect(try await world.claim().isEmpty)
            #expect(try await world.waiting() == 0)
        }
    }

    @Test func `when few shards may be claimed, the lanes take turns`() async throws {
        try await withCrowds { world in
            for key in ["match-1", "match-2", "match-3"] {
                try await world.stores.open(key)
                try await world.stores.accept(.update(#"{"of":"\#(key)"}"#), for: key)
                for n in 1...3 { try await world.show("aa\(key.suffix(1))\(n)", of: key) }
            }
            let shards = try await (1...3).asyncMap { _ in try await world.claim(limit: 1) }
            #expect(shards.map { $0.map(\.members.count) } == [[3], [3], [3]])
            #expect(Set(shards.joined().map(\.owner)).count == 3)
            #expect(try await world.claim().isEmpty)
        }
    }

    @Test func `one shard of a lane is in flight at a time, as long as its replica renews the lease`() async throws {
        try await withCrowd([]) { world in
            try await world.stores.accept(.update())
            for n in 1...3 { try await world.show("aa0\(n)") }
            let first = try #require(try await world.claim(size: 2, lease: 5).first)
            #expect(first.members.count == 2)
            world.stores.clock.advance(by: 4)
            try await world.shards.extendLeases(
                of: [first.owner], replica: world.stores.replica, until: world.now + 5)
            world.stores.clock.advance(by: 4)
            let other = UUID()
            #expect(try await world.claim(by: other).isEmpty)
            #expect(try await world.nextDue() == world.now + 1)
            try await world.settle(first) { $0.token.hex == "aa01" ? .accepted : nil }
            #expect(try await world.claim(by: other).first?.members.map(\.token.hex) == ["aa03", "aa02"])
        }
    }

    @Test func `a token belongs to the activity that reported it last`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let (old, new) = (try Phones.id(), try Phones.id())
            for id in [old, new] { try await phones.put(Phones.state(token: nil), of: id) }
            try await phones.report(of: old, token: "cc")
            try await phones.report(of: new, token: "cc")
            #expect(try await phones.known(old).activities.map(\.updateToken) == [nil])
            #expect(try await phones.known(new).activities.map(\.updateToken) == ["…cc"])
            #expect(try await phones.stores.rows("activities where in_crowd") == 1)
        }
    }

    // MARK: A token arrives during a broadcast

    private func tokens(_ shards: [Shard]) -> [[String]] { shards.map { $0.members.map(\.token.hex) } }

    /// Runs a test with a crowd of one activity, which has had an update.
    private func withOne(_ body: (CrowdWorld, Int) async throws -> Void) async throws {
        try await withCrowd([]) { world in
            let first = try await world.show("aa01")
            try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.push()
            try await body(world, first)
        }
    }

    @Test func `a token that joins while a message waits for the interval gets it with the others`() async throws {
        try await withOne { world, _ in
            try await world.show("aa02")
            try await world.stores.accept(.update(#"{"n":2}"#))
            #expect(try await world.claim().isEmpty)
            // The next look at the crowd is due only when the interval is over.
            #expect(try await world.nextDue() == world.now + 1)
            world.stores.clock.advance(by: 1)
            #expect(Set(try await world.push().members.map(\.token.hex)) == ["aa01", "aa02"])
            world.stores.clock.advance(by: 10)
            #expect(try await world.claim().isEmpty)
            #expect(try await world.waiting() == 0)
        }
    }

    @Test func `a token reported while a shard is taken does not block it, and joins with its content`() async throws {
        try await withOne { world, first in
            try await world.stores.pool.withConnection { try await world.join(first, on: $0) }
            world.stores.clock.advance(by: 1)
            try await world.stores.accept(.update(#"{"n":2}"#))
            let shard = try await world.stores.pool.transaction { connection in
                try await world.join(first, token: "bb01", on: connection)
                return try #require(try await world.claim().first)
            }
            #expect(tokens([shard]) == [["aa01"]])
            try await world.settle(shard)
            world.stores.clock.advance(by: 1)
            let late = try await world.claim()
            #expect(tokens(late) == [["bb01"]])
            #expect(try #require(late.first).text.contains(#"{"n":2}"#))
        }
    }

    @Test func `a token that changes while its settlement waits for the report joins again`() async throws {
        try await withOne { world, first in
            try await world.stores.pool.withConnection { try await world.join(first, on: $0) }
            let shard = try #require(try await world.claim().first)
            let settling = try await world.stores.pool.transaction { connection in
                try await world.join(first, token: "bb01", on: connection)
                let settling = Task { try await world.settle(shard) }
                try await world.stores.untilSomebodyWaits()
                return settling
            }
            try await settling.value
            #expect(tokens(try await world.claim()) == [["bb01"]])
        }
    }
}
