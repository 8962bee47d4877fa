internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// After a lost lease: installations whose pushes may have been sent, and installations whose pushes were not sent.
struct StartLeaseTests {
    @Test func `a shard whose lease never reached its replica is sent again at once`() async throws {
        try await withStarts { world in
            try await world.open()
            let followers = [try await world.follow(), try await world.follow()]
            let lost = try #require(try await world.claim(holding: []).first)
            #expect(lost.members.map(\.installation) == followers)
            #expect(try await world.claim(by: UUID(), holding: []).isEmpty)
            let again = try #require(try await world.claim(holding: []).first)
            #expect(again.members.map(\.installation) == followers)
            try await world.settle(again)
            let counts = try await world.counts()
            #expect(counts.accepted == 2)
            #expect(counts.unknown == 0)
        }
    }

    @Test func `a shard that a replica still has is not claimed again after its lease`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.follow()
            let shard = try #require(try await world.claim(holding: []).first)
            world.stores.clock.advance(by: 20)
            #expect(try await world.claim(holding: [shard.run]).isEmpty)
            try await world.settle(shard)
            #expect(try await world.counts().accepted == 1)
        }
    }

    @Test func `a lease that ended while the database was away does not end at once`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.follow()
            let shard = try #require(try await world.claim().first)
            world.stores.clock.advance(by: 20)
            let before = world.now.addingTimeInterval(-15)
            #expect(try await world.claim(by: UUID(), leasesEndedBefore: before).isEmpty)
            try await world.settle(shard)
            #expect(try await world.counts().accepted == 1)
            #expect(try await world.counts().unknown == 0)
        }
    }

    @Test func `a finished start is counted under a lease, also after a replica dies`() async throws {
        try await withStarts { world in
            try await world.open(start: StartWorld.start(at: world.now, until: world.now.addingTimeInterval(60)))
            try await world.follow()
            try await world.follow(system: "16.4")
            try await world.sendAll()
            world.stores.clock.advance(by: 60)
            let dead = try #require(try await world.claim(by: UUID()).first)
            #expect(dead.closes)
            #expect(dead.members.isEmpty)
            #expect(try await world.claim().isEmpty)
            var report = try await world.report()
            #expect(report.state == .done)
            #expect(report.counts.followers == 2)
            world.stores.clock.advance(by: 10)
            let closing = try #require(try await world.claim().first)
            #expect(closing.closes)
            try await world.settle(closing)
            try await world.follow(system: "16.4")
            report = try await world.report()
            #expect(report.counts.followers == 2)
            #expect(report.counts.ineligible[.system] == 1)
            #expect(try await world.starts.nextDue(in: .production) == nil)
        }
    }

    @Test func `a start that is being counted is not locked`() async throws {
        try await withStarts { world in
            try await world.open(start: StartWorld.start(at: world.now, until: world.now.addingTimeInterval(60)))
            try await world.follow()
            try await world.sendAll()
            world.stores.clock.advance(by: 60)
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
                    try await world.stores.count(
                        "select count(*) as n from (select from fan_outs for no key update skip locked) r") == 1)
                return settling
            }.value
            #expect(try await world.starts.nextDue(in: .production) == nil)
        }
    }
}
