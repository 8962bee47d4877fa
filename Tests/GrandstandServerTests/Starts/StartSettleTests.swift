internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The settlement of pushes, of their runs, and of tokens.
struct StartSettleTests {
    @Test func `a dead replica's installations are unknown and get no other start, whatever is later`() async throws {
        try await withStarts(followers: 2) { world, followers in
            let lost = UUID()
            let shard = try #require(try await world.claim(size: 1, by: lost).first)
            #expect(shard.members.map(\.row) == [followers[0]])
            #expect(try await world.claim().isEmpty)
            world.stores.clock.advance(by: 10)
            #expect(try await world.sendAll() == [followers[1]])
            for replica in [lost, world.stores.replica] {
                try await world.settle(shard, by: replica) { _ in .gone(reason: "Unregistered", since: nil) }
            }
            #expect(try await world.stores.rows("start_tokens") == 2)
            let counts = try await world.counts()
            #expect((counts.unknown, counts.accepted, counts.followers) == (1, 1, 2))
        }
    }

    @Test func `a lease that is renewed, held, cut off or lost stays its replica's`() async throws {
        try await withStarts(followers: 1) { world, _ in
            let shard = try #require(try await world.claim(holding: []).first)
            try await world.starts.extendLeases(of: [shard.owner], replica: world.stores.replica, until: world.now + 60)
            world.stores.clock.advance(by: 30)
            #expect(try await world.claim(by: UUID()).isEmpty)
            #expect(try await world.nextDue() == world.now + 30)
            world.stores.clock.advance(by: 40)
            #expect(try await world.claim(holding: [shard.owner]).isEmpty)
            #expect(try await world.claim(by: UUID(), leasesEndedBefore: world.now - 15).isEmpty)
            try await world.settle(shard)
            // A shard whose lease never reached its replica is sent again at once.
            let followers = try await (0..<2).asyncMap { _ in try await world.follow(late: true) }
            let lost = try #require(try await world.claim(holding: []).first)
            #expect(Set(lost.members.map(\.row)) == Set(followers))
            #expect(try await world.claim(by: UUID(), holding: []).isEmpty)
            let again = try #require(try await world.claim(holding: []).first)
            #expect(Set(again.members.map(\.row)) == Set(followers))
            try await world.settle(again)
            let counts = try await world.counts()
            #expect((counts.accepted, counts.unknown) == (3, 0))
        }
    }

    @Test func `a replica sends two shards of a run at a time, and the lease ends with the last`() async throws {
        try await withStarts(followers: 7) { world, _ in
            let shards = try await world.claim(size: 2, holding: [])
            let run = shards[0].owner
            #expect(shards.map(\.members.count) == [2, 2] && shards[1].owner == run)
            #expect(try await world.claim(holding: [run, run]).isEmpty)
            // The answer to a settlement may be lost, and then the settlement is repeated.
            for _ in 0..<2 { try await world.settle(shards[1]) }
            #expect(try await world.claim(by: UUID()).isEmpty)
            let lost = try await world.claim(size: 2, holding: [run])
            try await world.settle(shards[0])
            let again = try await world.claim(size: 2, holding: [])
            #expect(again.map(\.members.count) == [2, 1])
            let repeated = again.flatMap(\.members).map(\.row)
            #expect(Set(repeated).isSuperset(of: lost[0].members.map(\.row)))
            for shard in lost + again { try await world.settle(shard) }
            #expect(try await world.counts().accepted == 7)
            #expect(try await world.stores.rows("start_runs where shards <> '{}' or leased_by is not null") == 0)
        }
    }

    @Test func `a push that APNs did not process is repeated later, and one that was not sent at once`() async throws {
        try await withStarts(followers: 2) { world, followers in
            let again = world.now + 5
            try await world.push { $0.row == followers[0] ? .retry(at: again, reason: "TooManyRequests") : nil }
            #expect(try await world.report().state == .running)
            #expect(try await world.counts().pending == 2)
            #expect(try await world.sendAll() == [followers[1]])
            #expect(try await world.nextDue() == again)
            world.stores.clock.advance(by: 5)
            let second = try await world.push().members
            #expect(second.map(\.row) == [followers[0]] && second.map(\.attempts) == [1])
            #expect(try await world.report().state == .done)
        }
    }

    @Test func `answers are counted by state and reason, also if activities are reported before`() async throws {
        try await withStarts(followers: 3) { world, ids in
            let verdicts: [Int: TokenVerdict] = [
                ids[1]: .unknown(reason: "timeout"), ids[2]: .rejected(reason: "PayloadEmpty"),
            ]
            let shard = try #require(try await world.claim().first)
            try await world.stores.pool.query("update starts set confirmed_at = now() where installation = \(ids[0])")
            try await world.settle(shard) { verdicts[$0.row] ?? .accepted }
            try await world.stores.pool.query("update starts set confirmed_at = now() where installation = \(ids[1])")
            let report = try await world.report()
            let counts = report.counts
            #expect((counts.accepted, counts.unknown, counts.rejected, counts.confirmed) == (1, 1, 1, 2))
            #expect(report.byReason == ["PayloadEmpty": 1])
            #expect(report.startedAt == world.now && report.finishedAt == world.now)
        }
    }

    @Test func `an invalid token is removed, a replaced one is used, and one registered later is kept`() async throws {
        try await withStarts(followers: 4) { world, ids in
            let (gone, replaced, kept, suspect) = (ids[0], ids[1], ids[2], ids[3])
            let shard = try #require(try await world.claim().first)
            world.stores.clock.advance(by: 1)
            try await world.register("bbbb", of: replaced)
            try await world.enlist(replaced)
            let since = world.now - 2
            try await world.settle(shard) {
                $0.row == suspect
                    ? .suspect(reason: "BadDeviceToken")
                    : .gone(reason: "Unregistered", since: $0.row == kept ? since : nil)
            }
            #expect(try await world.counts().pending == 1)
            #expect(try await world.push().members.map(\.token.hex) == ["bbbb"])
            let counts = try await world.counts()
            #expect((counts.accepted, counts.rejected) == (1, 3))
            #expect(try await world.stores.rows("start_tokens where installation = \(gone)") == 0)
            #expect(try await world.stores.rows("start_tokens where installation = \(kept)") == 1)
            // A suspect token is not used until it is registered again.
            try await world.enlist(suspect)
            #expect(try await world.sendAll().isEmpty)
            try await world.register("aa\(suspect + 1_000)", of: suspect)
            try await world.enlist(suspect)
            #expect(try await world.sendAll() == [suspect])
        }
    }
}
