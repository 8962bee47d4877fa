internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Activities whose token arrived after the others had got a message.
@Suite(.timeLimit(.minutes(20)))
struct CrowdJoinTests {
    @Test func `a token that comes after the end gets the end with its dismissal, while that is useful`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.stores.accept(.update())
            try await world.stores.sendOne()
            world.stores.clock.advance(by: 60)
            let dismissal = Int(world.now.timeIntervalSince1970) + 600
            try await world.stores.accept(.end(dismissalDate: dismissal))
            let end = try await world.stores.sendOne()
            // This is the first token of the event, so there was no crowd before.
            world.stores.clock.advance(by: 5)
            try await world.show("aa01")
            let late = try #require(try await world.claim().first)
            #expect(late.text.contains(#""event":"end""#))
            #expect(late.text.contains(#""dismissal-date":\#(dismissal)"#))
            #expect(late.push.message.priority == .immediate)
            let timestamp = try #require(Int(late.text.dropFirst(20).prefix { $0.isNumber }))
            #expect(try timestamp > end.timestamp)
            try await world.settle(late)
            // Phones with few pushes get it at priority 5.
            try await world.show("aa03", frequent: false)
            let quiet = try #require(try await world.claim().first)
            #expect(quiet.members.map { quiet.requests()($0).priority } == [.powerAware])
            try await world.settle(quiet)
            #expect(try await world.waiting() == 0)
            world.stores.clock.advance(by: CrowdJoins.endIsOfUse)
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
            var lanes: Set<Int> = []
            for _ in 0..<3 {
                let shards = try await world.claim(limit: 1)
                #expect(shards.count == 1)
                let shard = try #require(shards.first)
                #expect(shard.members.count == 3)
                lanes.insert(shard.owner)
            }
            #expect(lanes.count == 3)
            #expect(try await world.claim().isEmpty)
        }
    }

    @Test func `one shard of a lane is in flight at a time, as long as its replica renews the lease`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.stores.accept(.update())
            for n in 1...3 { try await world.show("aa0\(n)") }
            let first = try #require(try await world.claim(size: 2, lease: 5).first)
            #expect(first.members.count == 2)
            world.stores.clock.advance(by: 4)
            try await world.crowds.extendLeases(
                of: [first.owner], replica: world.stores.replica, until: world.now + 5)
            world.stores.clock.advance(by: 4)
            let other = UUID()
            #expect(try await world.claim(by: other).isEmpty)
            #expect(try await world.crowds.nextDue(in: .production) == world.now + 1)
            try await world.settle(first) { $0.token.hex == "aa01" ? .accepted : nil }
            let second = try #require(try await world.claim(by: other).first)
            #expect(second.members.map(\.token.hex) == ["aa03"])
            try await world.settle(second, by: other)
            world.stores.clock.advance(by: CrowdJoins.pause)
            #expect(try await world.claim().first?.members.map(\.token.hex) == ["aa02"])
            // When a replica dies, the next one continues.
            world.stores.clock.advance(by: 10)
            #expect(try await world.claim(by: other).first?.members.map(\.token.hex) == ["aa02"])
        }
    }

    @Test func `a crowd whose waiting members were all dismissed is not due`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.stores.accept(.update())
            for n in 1...2 { try await world.show("aa0\(n)") }
            try await world.stores.pool.query("update activities set state = 'dismissed'")
            #expect(try await world.claim().isEmpty)
            #expect(try await world.waiting() == 0)
            #expect(try await world.crowds.nextDue(in: .production) == nil)
        }
    }

    @Test func `an app that reports token after token gets one push in half a minute, to the newest`() async throws {
        try await withCrowds { world in
            let store = InstallationStore(Database(world.stores.pool))
            try await world.stores.open()
            try await world.stores.accept(.update())
            let id = try Phones.id()
            _ = try await store.put(Phones.state(), of: id, secret: Phones.secret, now: world.now)
            var pushed: [String] = []
            func push() async throws {
                for shard in try await world.claim() where shard.push.message.id == nil {
                    pushed += shard.members.map(\.token.hex)
                    try await world.settle(shard)
                }
            }
            for number in 0..<25 {
                try await push()
                _ = try await store.put(
                    Contract.ActivityDraft(
                        eventKey: "match-1", attributesType: Phones.type, state: .active,
                        updateToken: "cc\(10 + number)"),
                    as: "one", of: id, secret: Phones.secret, now: world.now)
                try await push()
                world.stores.clock.advance(by: 4)
            }
            // The pushes to these tokens were sent after 0, 32, 60 and 92 seconds.
            #expect(pushed == ["cc10", "cc17", "cc24", "cc32"])
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

    private func tokens(_ shards: [CrowdShard]) -> [[String]] { shards.map { $0.members.map(\.token.hex) } }

    /// A crowd of one activity, which has had an update.
    private func begin(_ world: CrowdWorld) async throws -> Int {
        try await world.stores.open()
        let first = try await world.show("aa01")
        try await world.stores.accept(.update(#"{"n":1}"#))
        try await world.sendAll()
        return first
    }

    @Test func `a token that joins while a message waits for the interval gets it with the others`() async throws {
        try await withCrowds { world in
            _ = try await begin(world)
            try await world.show("aa02")
            try await world.stores.accept(.update(#"{"n":2}"#))
            #expect(try await world.claim().isEmpty)
            // The next look at the crowd is due only when the interval is over.
            #expect(try await world.crowds.nextDue(in: .production) == world.now + 1)
            world.stores.clock.advance(by: 1)
            let shards = try await world.claim()
            #expect(tokens(shards).map { $0.sorted() } == [["aa01", "aa02"]])
            for shard in shards { try await world.settle(shard) }
            world.stores.clock.advance(by: 10)
            #expect(try await world.claim().isEmpty)
            #expect(try await world.waiting() == 0)
        }
    }

    @Test func `a token reported while a shard is taken does not block it, and joins with its content`() async throws {
        try await withCrowds { world in
            let first = try await begin(world)
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
        try await withCrowds { world in
            let first = try await begin(world)
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
