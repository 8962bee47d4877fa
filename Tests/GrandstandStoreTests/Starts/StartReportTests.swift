internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// The reports about a start.
struct StartReportTests {
    @Test func `a dry run after a stop counts those that would get the start`() async throws {
        try await withStarts { world in
            try await world.open()
            for _ in 0..<3 { try await world.follow() }
            let shard = try #require(try await world.claim(shardSize: 1).first)
            try await world.stop()
            try await world.settle(shard)
            try await world.sendAll()
            try await world.follow()
            let stopped = try await world.report()
            #expect(stopped.state == .stopped)
            #expect(stopped.counts.pending == 0)
            let dry = try await world.report("match-1", .dryRun)
            #expect(dry.state == .stopped)
            #expect(dry.counts.pending == 3)
            #expect(dry.counts.followers == 4)
            #expect(try await world.report("match-1", .asked).state == .running)
            try await world.ask()
            #expect(try await world.report().state == .running)
            #expect(try await world.counts().pending == 3)
            #expect(try await world.sendAll().count == 3)
        }
    }

    @Test func `at the end all parts add up to the followers, with late ones counted separately`() async throws {
        try await withStarts { world in
            let run = try #require(Topic(rawValue: "team:rapid"))
            try await world.open()
            var members: [Int] = []
            for _ in 0..<4 { members.append(try await world.follow([run.rawValue])) }
            try await world.follow(system: "17.0")
            let shard = try #require(try await world.claim(shardSize: 2).first)
            try await world.stores.accept(.end())
            // Two pushes are under way. The other two were not sent before the end.
            func expect(_ accepted: Int, pending: Int, tooLate: Int) async throws {
                let counts = try await world.counts()
                #expect(counts.accepted == accepted)
                #expect(counts.pending == pending)
                #expect(counts.ineligible[.tooLate] == tooLate)
                #expect(counts.ineligible[.system] == 1)
                #expect(counts.followers == 5)
                #expect(5 == accepted + pending + tooLate + 1)
            }
            try await expect(0, pending: 2, tooLate: 2)
            try await world.settle(shard)
            try await expect(2, pending: 0, tooLate: 2)
            world.stores.clock.advance(by: 61)
            try await world.sendAll()
            #expect(try await world.stores.rows("fan_outs where too_late is not null") == 1)
            try await expect(2, pending: 0, tooLate: 2)
            // Later followers, and installations that are deleted, do not change the counts.
            try await world.follow()
            try await world.stores.pool.query("delete from installations where id = any(\(members))")
            try await expect(2, pending: 0, tooLate: 2)
        }
    }

    @Test func `a start requested early runs, or waits for its channel`() async throws {
        try await withStarts { world in
            try await world.declare(start: StartWorld.start(at: world.now + 3_600))
            try await world.follow()
            #expect(try await world.report("match-1", .dryRun).state == .scheduled)
            #expect(try await world.report("match-1", .asked).state == .waiting)
            try await world.stores.provision()
            #expect(try await world.report("match-1", .asked).state == .running)
        }
    }

    @Test func `a postponed start is scheduled again, whatever was sent`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.follow()
            try await world.sendAll()
            #expect(try await world.report().state == .done)
            try await world.declare(start: StartWorld.start(at: world.now + 600))
            try await world.sendAll()
            #expect(try await world.report().state == .scheduled)
            world.stores.clock.advance(by: 600)
            #expect(try await world.report().state == .done)
        }
    }

    @Test func `a rate counts followers in time and not late ones`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.follow()
            try await world.follow()
            try await world.settle(try #require(try await world.claim(shardSize: 1).first))
            world.stores.clock.advance(by: 4)
            #expect(try await world.report().perSecond(at: world.now) == 0.25)
            try await world.sendAll()
            #expect(try await world.report().perSecond(at: world.now) == 0.5)
            world.stores.clock.advance(by: 3_600)
            let late = try await world.follow()
            try await world.queue(late)
            #expect(try await world.sendAll() == [late])
            let report = try await world.report()
            #expect(report.finishedAt == world.now)
            #expect(report.perSecond(at: world.now) == 0.5)
        }
    }

    @Test func `a count is of one moment, even while shards are settled`() async throws {
        try await withStarts { world in
            try await world.open()
            for _ in 0..<60 { try await world.follow() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await world.sendAll(shardSize: 2) }
                var pending = 60
                while pending > 0 {
                    let counts = try await world.counts()
                    #expect(counts.followers == 60)
                    #expect(counts.accepted + counts.pending == 60)
                    pending = counts.pending
                }
                try await group.waitForAll()
            }
        }
    }
}
