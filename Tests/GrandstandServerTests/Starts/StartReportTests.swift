internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

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
            #expect(stopped.state == .stopped && stopped.counts.pending == 0)
            let dry = try await world.report(.dryRun)
            #expect((dry.state, dry.counts.pending, dry.counts.followers) == (.stopped, 3, 4))
            #expect(try await world.report(.asked).state == .running)
            try await world.ask()
            #expect(try await world.report().state == .running)
            #expect(try await world.counts().pending == 3)
            #expect(try await world.sendAll().count == 3)
        }
    }

    @Test func `at the end all parts add up to the followers, with late ones counted separately`() async throws {
        try await withStarts { world in
            try await world.open()
            let members = try await world.followers(4)
            try await world.follow(system: "17.0")
            let shard = try #require(try await world.claim(shardSize: 2).first)
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
            #expect(try await world.stores.rows("start_runs where too_late is not null") == 1)
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
            #expect(try await world.report(.dryRun).state == .scheduled)
            #expect(try await world.report(.asked).state == .waiting)
            try await world.stores.provision()
            #expect(try await world.report(.asked).state == .running)
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

    @Test func `moving an event after cards were started answers how many were`() async throws {
        try await withStarts { world in
            func put(endsAt seconds: TimeInterval) async throws -> [String]? {
                var specification = try EventSpecification.sample(endsAt: Date(timeIntervalSince1970: seconds))
                specification.topics = ["team:rapid"]
                specification.start = StartWorld.start(at: world.now)
                return try await world.stores.put(specification).warnings
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

    @Test func `a rate counts followers in time and not late ones`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.follow()
            try await world.follow()
            try await world.settle(try #require(try await world.claim(shardSize: 1).first))
            world.stores.clock.advance(by: 4)
            #expect(try await world.report().perSecond == 0.3)
            try await world.sendAll()
            #expect(try await world.report().perSecond == 0.5)
            world.stores.clock.advance(by: 3_600)
            let late = try await world.follow()
            try await world.enlist(late)
            #expect(try await world.sendAll() == [late])
            let report = try await world.report()
            #expect(report.finishedAt == world.now)
            #expect(report.perSecond == 0.5)
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

/// How organisers declare, request, stop and read starts.
struct StartAskTests {
    @Test func `an event returns the declared start byte for byte`() async throws {
        try await withStarts { world in
            var start = StartWorld.start(
                at: world.now, until: world.now + 60, alertsByLocale: ["de": #"{ "title" : "ü" }"#],
                audiences: [try .sample()])
            start.staleDate = Date(timeIntervalSince1970: 1_795_300_000)
            start.expiresIn = 60
            let event = try await world.declare(topics: ["b", "a"], start: start)
            #expect(try event.specification.start == start)
            #expect(event.topics == ["b", "a"])
            var without = try event.specification
            without.start = nil
            without.topics = []
            let changed = try await world.stores.put(without)
            #expect(changed.start == nil)
            #expect(changed.topics.isEmpty)
        }
    }

    @Test func `a requested start is sent now`() async throws {
        try await withStarts { world in
            try await world.open(start: StartWorld.start(at: world.now + 3_600))
            try await world.follow()
            #expect(try await world.sendAll().isEmpty)
            try await world.ask()
            #expect(try await world.sendAll().count == 1)
            let log = try await world.stores.auditLog.entries(
                where: AuditFilter(action: .startRequested), PageRequest())
            #expect(log.items.map(\.eventKey) == ["match-1"])
        }
    }

    @Test func `a start names who requested it, or who declared it`() async throws {
        try await withStarts { world in
            let first = AuditActor.key(id: UUID(), name: "first")
            let second = AuditActor.key(id: UUID(), name: "second")
            try await world.open(start: StartWorld.start(at: world.now + 3_600))
            var specification = try #require(try await world.stores.event()?.specification)
            #expect(try await world.report().by == "grandstand")
            // If another actor declares the event with the same start, the start still belongs to the actor that
            // declared it first.
            specification.name = "Final"
            for (seconds, owner) in [(3_600.0, "grandstand"), (7_200, "key:first")] {
                specification.start = StartWorld.start(at: world.now + seconds)
                _ = try await world.stores.events.put(specification, by: first, now: world.now)
                #expect(try await world.report().by == owner)
            }
            func ask(_ actor: AuditActor) async throws -> String? {
                try await world.starts.startNow(.sample(), within: .all, by: actor, now: world.now)
            }
            #expect(try await ask(second) == "key:second")
            #expect(try await world.report().by == "key:second")
            #expect(try await ask(first) == "key:second")
            try await world.stop()
            #expect(try await ask(first) == "key:first")
            #expect(try await world.report().by == "key:first")
        }
    }

    @Test(arguments: [true, false])
    func `an event that is over ends its start`(cancelled: Bool) async throws {
        try await withStarts { world in
            try await world.open()
            try await world.follow()
            try await world.follow()
            try await world.settle(try #require(try await world.claim(shardSize: 1).first))
            if cancelled {
                try await world.stores.events.cancel(.sample(), within: .all, by: .commandLine, now: world.now)
            } else {
                try await world.stores.accept(.end())
            }
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
        }
    }

    @Test func `an impossible start is refused`() async throws {
        try await withStarts { world in
            let ask: (String, AppReach) async throws -> Void = { key, reach in
                try await world.starts.startNow(.sample(key), within: reach, by: .commandLine, now: world.now)
            }
            try await refuses(.eventNotFound) { try await ask("nothing", .all) }
            try await world.stores.put(.sample("bare"))
            try await refuses(.invalidRequest) { try await ask("bare", .all) }
            try await world.declare(start: StartWorld.start(at: world.now, until: world.now + 1))
            try await refuses(.eventNotFound) { try await ask("match-1", .only([try .sample("com.other")])) }
            world.stores.clock.advance(by: 1)
            try await refuses(.invalidRequest) { try await ask("match-1", .all) }
            try await world.stores.events.cancel(.sample(), within: .all, by: .commandLine, now: world.now)
            try await refuses(.eventEnded) { try await ask("match-1", .all) }
            for (key, kind) in [("bare", Problem.Kind.invalidRequest), ("nothing", .eventNotFound)] {
                try await refuses(kind) {
                    try await world.starts.report(of: .sample(key), within: .all, .asItIs, now: world.now)
                }
            }
        }
    }
}
