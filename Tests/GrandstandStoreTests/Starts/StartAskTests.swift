internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// How organisers declare, request, stop and read starts.
struct StartAskTests {
    @Test func `an event returns the declared start byte for byte`() async throws {
        try await withStarts { world in
            var start = StartWorld.start(
                at: world.now, until: world.now + 60, alertsByLocale: ["de": #"{ "title" : "ü" }"#],
                audiences: [try .sample()])
            start.staleDate = Date(timeIntervalSince1970: 1_795_300_000)
            let event = try await world.declare(topics: ["b", "a"], start: start)
            #expect(event.specification.start == start)
            #expect(event.specification.topics.map(\.rawValue) == ["b", "a"])
            var without = event.specification
            without.start = nil
            without.topics = []
            let changed = try await world.stores.put(without)
            #expect(changed.specification.start == nil)
            #expect(changed.specification.topics.isEmpty)
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
            #expect(log.items.map(\.subject.eventKey) == [try .sample()])
        }
    }

    @Test func `a start names who requested it, or who declared it`() async throws {
        try await withStarts { world in
            let (first, second) = (
                AuditActor.key(id: UUID(), name: "first"), AuditActor.key(id: UUID(), name: "second")
            )
            try await world.open(start: StartWorld.start(at: world.now + 3_600))
            var specification = try #require(
                try await world.stores.events.event(.sample(), now: world.now)?.specification)
            func declare(_ actor: AuditActor) async throws {
                _ = try await world.stores.events.put(
                    specification, within: .all, by: actor, if: .none, now: world.now)
            }
            #expect(try await world.report().by == "grandstand")
            // If another actor declares the event with the same start, the start still belongs to the actor that
            // declared it first.
            specification.name = "Final"
            try await declare(first)
            #expect(try await world.report().by == "grandstand")
            specification.start = StartWorld.start(at: world.now + 7_200)
            try await declare(first)
            #expect(try await world.report().by == "key:first")
            func ask(_ actor: AuditActor) async throws -> String? {
                try await world.starts.startNow(.sample(), within: .all, by: actor, now: world.now)
            }
            #expect(try await ask(second) == "key:second")
            #expect(try await world.report().by == "key:second")
            #expect(try await ask(first) == "key:second")
            try await world.starts.stop(.sample(), within: .all, by: second, now: world.now)
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
            #expect(try await world.stores.rows("fan_outs where due_at is not null") == 0)
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

    @Test func `only the selected audiences get the start`() async throws {
        try await withStarts { world in
            let audiences = [try Audience.sample(), try Audience.sample("com.example.Other")]
            let start = StartWorld.start(at: world.now, audiences: [try .sample("com.example.Other")])
            try await world.declare(start: start, audiences: audiences)
            try await world.follow()
            try await world.stores.provision()
            #expect(try await world.sendAll().isEmpty)
            let reports = try #require(
                try await world.starts.report(of: .sample(), within: .all, .asItIs, now: world.now))
            #expect(reports.map(\.audience.bundleID.rawValue) == ["com.example.Other"])
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
            #expect(try await world.starts.report(of: .sample("bare"), within: .all, .asItIs, now: world.now) == nil)
        }
    }

    @Test func `topics are listed with their followers, in pages`() async throws {
        try await withStarts { world in
            try await world.declare()
            for topics in [["a", "b"], ["b", "c"], ["b", "d"]] { try await world.follow(topics) }
            var page = PageRequest(limit: 2)
            var seen: [String] = []
            repeat {
                let topics = try await world.starts.topics(of: .sample(), page)
                seen += topics.items.map { "\($0.topic):\($0.followers)" }
                page.cursor = topics.nextCursor
            } while page.cursor != nil
            #expect(seen == ["b:3", "a:1", "c:1", "d:1"])
            #expect(try await world.starts.topics(of: .sample("com.example.None"), PageRequest()).items.isEmpty)
        }
    }

    @Test func `an event that is deleted takes its starts along`() async throws {
        try await withStarts { world in
            try await world.open()
            let late = try await world.follow()
            try await world.sendAll()
            try await world.queue(late)
            try await world.stores.pool.query("delete from fan_outs")
            #expect(try await world.stores.rows("starts") == 0)
            #expect(try await world.stores.rows("fan_out_queue") == 0)
        }
    }
}
