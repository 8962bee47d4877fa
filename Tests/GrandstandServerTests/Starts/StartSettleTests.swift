internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The settlement of pushes, of their runs, and of tokens.
struct StartSettleTests {
    @Test func `an installation in a dead replica's shard is unknown and gets no other start, whatever comes later`()
        async throws
    {
        try await withStarts { world in
            try await world.open()
            let first = try await world.follow()
            let second = try await world.follow()
            let lost = UUID()
            let shard = try #require(try await world.claim(by: lost, shardSize: 1).first)
            #expect(shard.members.map(\.installation) == [first])
            #expect(try await world.claim().isEmpty)
            world.stores.clock.advance(by: 10)
            #expect(try await world.sendAll() == [second])
            for replica in [lost, world.stores.replica] {
                try await world.settle(shard, by: replica) { _ in .gone(reason: "Unregistered", since: nil) }
            }
            #expect(try await world.stores.rows("start_tokens") == 2)
            let counts = try await world.counts()
            #expect((counts.unknown, counts.accepted, counts.followers) == (1, 1, 2))
        }
    }

    @Test func `a lease that is renewed, held or cut off stays its replica's`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.follow()
            let shard = try #require(try await world.claim(holding: []).first)
            try await world.starts.extendLeases(of: [shard.run], replica: world.stores.replica, until: world.now + 60)
            world.stores.clock.advance(by: 30)
            #expect(try await world.claim(by: UUID()).isEmpty)
            #expect(try await world.starts.nextDue(in: .production) == world.now + 30)
            world.stores.clock.advance(by: 40)
            #expect(try await world.claim(holding: [shard.run]).isEmpty)
            #expect(try await world.claim(by: UUID(), leasesEndedBefore: world.now - 15).isEmpty)
            try await world.settle(shard)
            let counts = try await world.counts()
            #expect((counts.accepted, counts.unknown) == (1, 0))
        }
    }

    @Test func `a replica sends two shards of a run at a time, and the lease ends with the last`() async throws {
        try await withStarts { world in
            try await world.open()
            _ = try await world.followers(7)
            let shards = try await world.claim(shardSize: 2, holding: [])
            let run = shards[0].run
            #expect(shards.map(\.members.count) == [2, 2] && shards[1].run == run)
            #expect(try await world.claim(holding: [run, run]).isEmpty)
            try await world.settle(shards[1])
            #expect(try await world.claim(by: UUID()).isEmpty)
            let lost = try await world.claim(shardSize: 2, holding: [run])
            try await world.settle(shards[0])
            let again = try await world.claim(shardSize: 2, holding: [])
            #expect(again.map(\.members.count) == [2, 1])
            let repeated = again.flatMap(\.members).map(\.installation)
            #expect(Set(repeated).isSuperset(of: lost[0].members.map(\.installation)))
            for shard in lost + again { try await world.settle(shard) }
            #expect(try await world.counts().accepted == 7)
            #expect(try await world.stores.rows("start_runs where shards > 0 or leased_by is not null") == 0)
        }
    }

    @Test func `a push that APNs did not process is repeated later, and one that was not sent at once`() async throws {
        try await withStarts { world in
            try await world.open()
            let (throttled, unmade) = (try await world.follow(), try await world.follow())
            let again = world.now + 5
            let shard = try #require(try await world.claim().first)
            try await world.settle(shard) { member in
                member.installation == throttled ? .retry(at: again, reason: "TooManyRequests") : nil
            }
            #expect(try await world.report().state == .running)
            #expect(try await world.counts().pending == 2)
            #expect(try await world.sendAll() == [unmade])
            #expect(try await world.starts.nextDue(in: .production) == again)
            world.stores.clock.advance(by: 5)
            let second = try #require(try await world.claim().first)
            #expect(second.members.map(\.installation) == [throttled])
            #expect(second.members.map(\.attempts) == [1])
            try await world.settle(second)
            #expect(try await world.report().state == .done)
        }
    }

    @Test func `answers are counted by state and reason, and activities may be reported before the settlement`()
        async throws
    {
        try await withStarts { world in
            try await world.open()
            let ids = try await world.followers(3)
            let verdicts: [Int: TokenVerdict] = [
                ids[1]: .unknown(reason: "timeout"), ids[2]: .rejected(reason: "PayloadEmpty"),
            ]
            let shard = try #require(try await world.claim().first)
            try await world.stores.pool.query("update starts set confirmed_at = now() where installation = \(ids[0])")
            try await world.settle(shard) { verdicts[$0.installation] ?? .accepted }
            try await world.stores.pool.query("update starts set confirmed_at = now() where installation = \(ids[1])")
            let report = try await world.report()
            let counts = report.counts
            #expect((counts.accepted, counts.unknown, counts.rejected, counts.confirmed) == (1, 1, 1, 2))
            #expect(report.byReason == ["PayloadEmpty": 1])
            #expect(report.startedAt == world.now && report.finishedAt == world.now)
        }
    }

    @Test func `an invalid token is removed, one replaced meanwhile is used, and one registered later is kept`()
        async throws
    {
        try await withStarts { world in
            try await world.open()
            let (gone, replaced) = (try await world.follow(), try await world.follow(token: "aaaa"))
            let kept = try await world.follow()
            let shard = try #require(try await world.claim().first)
            world.stores.clock.advance(by: 1)
            try await world.register("bbbb", of: replaced)
            try await world.enlist(replaced)
            let since = world.now - 2
            try await world.settle(shard) { member in
                .gone(reason: "Unregistered", since: member.installation == kept ? since : nil)
            }
            #expect(try await world.counts().rejected == 2)
            let next = try #require(try await world.claim().first)
            #expect(next.members.map(\.token.hex) == ["bbbb"])
            #expect(try await world.counts().pending == 1)
            try await world.settle(next)
            let counts = try await world.counts()
            #expect(counts.accepted == 1)
            #expect(counts.rejected == 2)
            #expect(try await world.stores.rows("start_tokens where installation = \(gone)") == 0)
            #expect(try await world.stores.rows("start_tokens where installation = \(kept)") == 1)
        }
    }

    @Test func `a suspect token is not used until it is registered again`() async throws {
        try await withStarts { world in
            try await world.open()
            let installation = try await world.follow(token: "abcd")
            try await world.follow()
            let shard = try #require(try await world.claim().first)
            world.stores.clock.advance(by: 1)
            try await world.settle(shard) { member in
                member.installation == installation ? .suspect(reason: "BadDeviceToken") : .accepted
            }
            try await world.enlist(installation)
            #expect(try await world.sendAll().isEmpty)
            try await world.register("abcd", of: installation)
            try await world.enlist(installation)
            #expect(try await world.sendAll() == [installation])
        }
    }

    // MARK: After a lost lease

    @Test func `a shard whose lease never reached its replica is sent again at once`() async throws {
        try await withStarts { world in
            try await world.open()
            let followers = try await world.followers(2)
            let lost = try #require(try await world.claim(holding: []).first)
            #expect(lost.members.map(\.installation) == followers)
            #expect(try await world.claim(by: UUID(), holding: []).isEmpty)
            let again = try #require(try await world.claim(holding: []).first)
            #expect(again.members.map(\.installation) == followers)
            try await world.settle(again)
            let counts = try await world.counts()
            #expect((counts.accepted, counts.unknown) == (2, 0))
        }
    }

    @Test func `who is too late for a start is counted until its event ends, also after a replica dies`() async throws {
        try await withStarts { world in
            try await world.open(start: StartWorld.start(at: world.now, until: world.now + 60))
            try await world.follow()
            try await world.follow(system: "16.4")
            try await world.sendAll()
            world.stores.clock.advance(by: 60)
            let dead = try #require(try await world.claim(by: UUID()).first)
            #expect(dead.closes && dead.members.isEmpty)
            #expect(try await world.claim().isEmpty)
            #expect(try await world.report().state == .done)
            world.stores.clock.advance(by: 10)
            let closing = try #require(try await world.claim().first)
            #expect(closing.closes)
            try await world.settle(closing)
            let gone = try await world.followers(2)[1]
            try await world.stores.pool.query("delete from installations where id = \(gone)")
            func expect(due: Date?) async throws {
                let counts = try await world.counts()
                #expect((counts.followers, counts.accepted) == (3, 1))
                #expect(counts.ineligible.tooLate == 1 && counts.ineligible.system == 1)
                #expect(try await world.starts.nextDue(in: .production) == due)
            }
            try await expect(due: world.now + 60)
            try await world.stores.accept(.end())
            world.stores.clock.advance(by: 60)
            try await world.sendAll()
            try await world.follow()
            try await expect(due: nil)
        }
    }

    @Test func `a start that is being counted is not locked`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.follow()
            try await world.sendAll()
            try await world.stores.accept(.end())
            world.stores.clock.advance(by: 61)
            let closing = try #require(try await world.claim().first)
            // The table is locked, so the count must wait.
            try await world.stores.pool.transaction { connection in
                try await connection.query("lock table starts in access exclusive mode")
                let settling = Task { try await world.settle(closing) }
                try await until("the count waits") {
                    try await world.stores.count(
                        """
                        select count(*) as n from pg_locks where not granted and relation = 'starts'::regclass
                            and database = (select oid from pg_database where datname = current_database())
                        """) == 1
                }
                #expect(
                    try await world.stores.rows("(select from start_runs for no key update skip locked) r") == 1)
                return settling
            }.value
            #expect(try await world.starts.nextDue(in: .production) == nil)
        }
    }
}
