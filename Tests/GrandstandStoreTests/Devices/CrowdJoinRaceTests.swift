internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Activities whose token arrives during a broadcast get its content once, either from the crowd's message or by a push
/// of their own.
@Suite(.timeLimit(.minutes(2)))
struct CrowdJoinRaceTests {
    private func waiting(_ world: CrowdWorld) async throws -> Int {
        try await world.stores.count("select count(*) as n from fan_out_queue")
    }

    private func tokens(_ shards: [CrowdShard]) -> [[String]] { shards.map { $0.members.map(\.token.hex) } }

    /// A crowd of one activity, which has had an update.
    private func begin(_ world: CrowdWorld) async throws -> Int {
        try await world.stores.open()
        let first = try await world.show("aa01")
        try await world.stores.accept(.update(#"{"n":1}"#))
        for shard in try await world.claim() { try await world.settle(shard) }
        return first
    }

    @Test func `a new token that is already in a message's shard gets no second push`() async throws {
        try await withCrowds { world in
            _ = try await begin(world)
            try await world.show("aa02")
            world.stores.clock.advance(by: 1)
            try await world.stores.accept(.update(#"{"n":2}"#, alert: #"{"title":"Goal"}"#))
            let shards = try await world.claim()
            #expect(tokens(shards) == [["aa01", "aa02"]])
            #expect(try await waiting(world) == 0)
            for shard in shards { try await world.settle(shard) }
            world.stores.clock.advance(by: 10)
            #expect(try await world.claim().isEmpty)
        }
    }

    @Test func `a token that joins while a message waits for the interval gets it with the others`() async throws {
        try await withCrowds { world in
            _ = try await begin(world)
            try await world.show("aa02")
            try await world.stores.accept(.update(#"{"n":2}"#))
            #expect(try await world.claim().isEmpty)
            // The next look at the crowd is due only when the interval is over.
            #expect(try await world.crowds.nextDue(in: .production) == world.now.addingTimeInterval(1))
            world.stores.clock.advance(by: 1)
            let shards = try await world.claim()
            #expect(tokens(shards) == [["aa01", "aa02"]])
            for shard in shards { try await world.settle(shard) }
            world.stores.clock.advance(by: 10)
            #expect(try await world.claim().isEmpty)
            #expect(try await waiting(world) == 0)
        }
    }

    @Test func `a token that joins behind the cursor of a message is served after it`() async throws {
        try await withCrowds { world in
            let first = try await begin(world)
            try await world.show("aa02")
            for shard in try await world.claim() { try await world.settle(shard) }
            world.stores.clock.advance(by: 1)
            try await world.stores.accept(.update(#"{"n":2}"#))
            let shard = try #require(try await world.claim(size: 1).first)
            #expect(tokens([shard]) == [["aa01"]])
            // The first activity gets a new token. The shard that is under way goes to the former token, so the new
            // token must get a push of its own.
            try await world.stores.pool.withConnection { connection in
                try await connection.query(
                    "update activities set update_token = decode('bb01', 'hex') where id = \(first)")
                _ = try await connection.pipeline(CrowdJoins.queue("\([first])", now: world.now))
            }
            try await world.settle(shard)
            var sent: [[String]] = []
            while let next = try await world.claim().first {
                sent += tokens([next])
                try await world.settle(next)
            }
            #expect(sent == [["aa02"], ["bb01"]])
        }
    }

    @Test func `a token reported while a shard is taken does not block it, and joins with its content`()
        async throws
    {
        try await withCrowds { world in
            let first = try await begin(world)
            try await world.stores.pool.withConnection { connection in
                _ = try await connection.pipeline(CrowdJoins.queue("\([first])", now: world.now))
            }
            world.stores.clock.advance(by: 1)
            try await world.stores.accept(.update(#"{"n":2}"#))
            let shard = try await world.stores.pool.transaction { connection in
                try await connection.query(
                    "update activities set update_token = decode('bb01', 'hex') where id = \(first)")
                _ = try await connection.pipeline(CrowdJoins.queue("\([first])", now: world.now))
                return try #require(try await world.claim().first)
            }
            #expect(tokens([shard]) == [["aa01"]])
            try await world.settle(shard)
            world.stores.clock.advance(by: 1)
            let late = try await world.claim()
            #expect(tokens(late) == [["bb01"]])
            #expect(String(decoding: try #require(late.first).body, as: UTF8.self).contains(#"{"n":2}"#))
        }
    }

    @Test func `a token that changes while its settlement waits for the report joins again`() async throws {
        try await withCrowds { world in
            let first = try await begin(world)
            try await world.stores.pool.withConnection { connection in
                _ = try await connection.pipeline(CrowdJoins.queue("\([first])", now: world.now))
            }
            let shard = try #require(try await world.claim().first)
            let settling = try await world.stores.pool.transaction { connection in
                try await connection.query(
                    "update activities set update_token = decode('bb01', 'hex') where id = \(first)")
                _ = try await connection.pipeline(CrowdJoins.queue("\([first])", now: world.now))
                let settling = Task { try await world.settle(shard) }
                try await until("the settlement waits") {
                    try await world.stores.count(
                        """
                        select count(*) as n from pg_stat_activity
                        where datname = current_database() and wait_event_type = 'Lock'
                        """) == 1
                }
                return settling
            }
            try await settling.value
            #expect(tokens(try await world.claim()) == [["bb01"]])
        }
    }

    @Test func `phones with few pushes get a late end at priority 5`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.stores.accept(.update())
            try await world.stores.sendOne()
            world.stores.clock.advance(by: 60)
            try await world.stores.accept(.end())
            try await world.stores.sendOne()
            try await world.show("aa01", frequent: false)
            let shard = try #require(try await world.claim().first)
            #expect(shard.members.map { shard.requests()($0).priority } == [.powerAware])
        }
    }
}
