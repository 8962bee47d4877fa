internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The reports about a start.
struct StartReportTests {
    @Test func `a dry run after a stop counts those that would get the start`() async throws {
        try await withStarts(followers: 3) { world, _ in
            let shard = try #require(try await world.claim(size: 1).first)
            try await world.stop()
            try await world.settle(shard)
            try await world.sendAll()
            try await world.follow()
            let stopped = try await world.report()
            #expect(stopped.state == .stopped && stopped.counts.pending == 0)
            let dry = try await world.report(.dryRun)
            #expect((dry.state, dry.counts.pending, dry.counts.followers) == (.stopped, 3, 4))
            try await world.ask()
            #expect(try await world.report().state == .running)
            #expect(try await world.counts().pending == 3)
            #expect(try await world.sendAll().count == 3)
        }
    }

    @Test func `at the end all parts add up to the followers, with late ones counted separately`() async throws {
        try await withStarts(followers: 4) { world, members in
            try await world.follow(system: "17.0")
            let shard = try #require(try await world.claim(size: 2).first)
            try await world.stores.accept(.end())
            // Two pushes are under way. The other two were not sent before the end.
            func expect(_ accepted: Int, pending: Int, tooLate: Int) async throws {
                let counts = try await world.counts()
                #expect((counts.followers, counts.accepted, counts.pending) == (5, accepted, pending))
                #expect(counts.ineligible.tooLate == tooLate && counts.ineligible.system == 1)
            }
            try await expect(0, pending: 2, tooLate: 2)
            try await world.settle(shard)
            try await expect(2, pending: 0, tooLate: 2)
            world.stores.clock.advance(by: 61)
            try await world.sendAll()
            try await expect(2, pending: 0, tooLate: 2)
            #expect(try await world.stores.rows("start_runs where ineligible is not null") == 1)
            // Later followers, and installations that are deleted, do not change the counts.
            try await world.follow()
            try await world.stores.pool.query("delete from installations where id = any(\(members))")
            try await expect(2, pending: 0, tooLate: 2)
        }
    }

    @Test func `a rate counts followers in time and not late ones`() async throws {
        try await withStarts(followers: 2) { world, _ in
            try await world.push(size: 1)
            world.stores.clock.advance(by: 4)
            #expect(try await world.report().perSecond == 0.3)
            try await world.sendAll()
            #expect(try await world.report().perSecond == 0.5)
            let finishedAt = world.now
            world.stores.clock.advance(by: 3_600)
            let late = try await world.follow(late: true)
            #expect(try await world.sendAll() == [late])
            let report = try await world.report()
            #expect(report.finishedAt == finishedAt && report.perSecond == 0.5)
        }
    }

    @Test func `a count is of one moment, even while shards are settled`() async throws {
        try await withStarts(followers: 60) { world, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await world.sendAll(size: 2) }
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

    @Test func `moving an event after cards were started answers how many were`() async throws {
        try await withStarts { world in
            func put(endsAt seconds: TimeInterval) async throws -> [String]? {
                var draft = try Contract.EventDraft.sample(endsAt: Date(timeIntervalSince1970: seconds))
                draft.topics = ["team:rapid"]
                draft.start = StartWorld.start(at: world.now)
                return try await world.stores.put(draft).warnings
            }
            let planned = world.now.timeIntervalSince1970 + 3_600
            _ = try await put(endsAt: planned)
            try await world.stores.provision()
            #expect(try await put(endsAt: planned + 60) == [])
            try await world.follow()
            try await world.sendAll()
            #expect(try await put(endsAt: planned + 60) == [])
            let warnings = try await put(endsAt: planned + 120)
            #expect(warnings?.count == 1 && warnings?.first?.contains("or may have got it: 1.") == true)
        }
    }
}

/// How organisers declare, request, stop and read starts.
struct StartAskTests {
    @Test func `a start names who requested it, or who declared it`() async throws {
        try await withStarts { world in
            let first = AuditActor.key(id: UUID(), name: "first")
            let second = AuditActor.key(id: UUID(), name: "second")
            try await world.open(start: StartWorld.start(at: world.now + 3_600))
            var draft = try #require(try await world.stores.event()?.draft)
            #expect(try await world.report().by == "grandstand")
            draft.name = "Final"
            _ = try await world.stores.events.put(draft, by: first, now: world.now)
            #expect(try await world.report().by == "key:first")
            func ask(_ actor: AuditActor) async throws -> String? {
                try await world.starts.start(.sample(), within: .all, by: actor, now: world.now)
                return try await world.report().by
            }
            #expect(try await ask(second) == "key:second")
            #expect(try await ask(first) == "key:second")
            try await world.stop()
            #expect(try await ask(first) == "key:first")
        }
    }

    @Test(arguments: [true, false])
    func `an event that is over ends its start`(cancelled: Bool) async throws {
        try await withStarts(followers: 2) { world, _ in
            try await world.push(size: 1)
            if cancelled { try await world.stores.cancel() } else { try await world.stores.accept(.end()) }
            #expect(try await world.report().state == .done)
            #expect(try await world.sendAll().isEmpty)
            #expect(try await world.counts().accepted == 1)
            #expect(try await world.stores.rows("start_runs where due_at is not null") == 0)
        }
    }

    @Test func `after its topics change a start also reaches the new followers, and nobody gets two`() async throws {
        try await withStarts { world in
            try await world.open(topics: ["b"])
            let other = try await world.follow(["a"])
            let first = try await world.follow(["a", "b"])
            #expect(try await world.sendAll() == [first])
            try await world.declare(topics: ["a", "b"])
            #expect(try await world.sendAll() == [other])
            try await world.declare(topics: ["a", "b"])
            #expect(try await world.sendAll().isEmpty)
            #expect(try await world.stores.put(.sample()).start == nil)
        }
    }

    @Test func `an impossible start is refused`() async throws {
        try await withStarts { world in
            let ask: (String, AppReach) async throws -> Void = { key, reach in
                try await world.starts.start(.sample(key), within: reach, by: .commandLine, now: world.now)
            }
            try await refuses(.eventNotFound) { try await ask("nothing", .all) }
            try await world.stores.put(.sample(), as: "bare")
            try await refuses(.invalidRequest) { try await ask("bare", .all) }
            try await world.declare(start: StartWorld.start(at: world.now, until: world.now + 1))
            try await refuses(.eventNotFound) { try await ask("match-1", .only([try .sample("com.other")])) }
            world.stores.clock.advance(by: 1)
            try await refuses(.invalidRequest) { try await ask("match-1", .all) }
            try await world.stores.cancel()
            try await refuses(.eventEnded) { try await ask("match-1", .all) }
        }
    }
}

/// An event's start: declaration, request, stop and report.
@Suite(.database)
struct StartRouteTests {
    @Test func `a dry run starts nothing, a request does, and a start can be stopped`() async throws {
        let world = RouteWorld()
        let path = "/v1/events/match-1/starts"
        #expect(try await world("GET", path).slug == "event-not-found")
        try await world.rows.put(.sample())
        #expect(try await world("GET", path).slug == "invalid-request")
        var event = try Contract.EventDraft.sample()
        event.start = StartWorld.start(at: world.rows.now + 3_600)
        event.topics = ["team:rapid"]
        try await world.rows.put(event)
        try await world.rows.provision()
        let dry = try await world("POST", path, #"{"dryRun": true}"#)
        #expect(dry.status == 200 && dry.json["state"] as? String == "scheduled")
        let started = try await world("POST", path, headers: ["Idempotency-Key": "kick-off"])
        #expect(started.status == 202 && started.json["state"] as? String != "scheduled")
        #expect((started.json["by"] as? String)?.hasPrefix("key:") == true)
        #expect(try await world("DELETE", path).status == 204)
        #expect(try await world("GET", path).json["state"] as? String == "stopped")
    }

    @Test func `the console's buttons start and stop an event's start`() async throws {
        let world = ConsoleWorld()
        var event = try Contract.EventDraft.sample()
        event.start = StartWorld.start(at: world.rows.now + 3_600)
        try await world.rows.put(event)
        #expect(try await world.get("/console/events/match-1/start").text.contains("Start now?"))
        for (button, action) in [("start", Contract.AuditAction.startRequested), ("stop", .startStopped)] {
            let path = "/console/events/match-1/\(button)"
            #expect(try await world.submit(path, as: "organise").status == 303)
            #expect(try await world.rows.audited(AuditFilter(action: action)).count == 1)
        }
    }
}
