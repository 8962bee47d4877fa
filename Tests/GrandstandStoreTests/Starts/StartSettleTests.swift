internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// The settlement of pushes, of their runs, and of tokens.
struct StartSettleTests {
    @Test func `an installation in a dead replica's shard counts as unknown, and gets no other start`() async throws {
        try await withStarts { world in
            try await world.open()
            let first = try await world.follow()
            let second = try await world.follow()
            let shard = try #require(try await world.claim(by: UUID(), shardSize: 1).first)
            #expect(shard.members.map(\.installation) == [first])
            #expect(try await world.claim().isEmpty)
            world.stores.clock.advance(by: 10)
            #expect(try await world.sendAll() == [second])
            let counts = try await world.counts()
            #expect(counts.unknown == 1)
            #expect(counts.accepted == 1)
            #expect(counts.followers == 2)
        }
    }

    @Test func `a result after the lease went elsewhere changes nothing`() async throws {
        try await withStarts { world in
            try await world.open()
            let installation = try await world.follow()
            let lost = UUID()
            let shard = try #require(try await world.claim(by: lost).first)
            world.stores.clock.advance(by: 10)
            #expect(try await world.sendAll().isEmpty)
            for replica in [lost, world.stores.replica] {
                try await world.settle(shard, by: replica) { _ in .gone(reason: "Unregistered", since: nil) }
            }
            #expect(try await world.counts().unknown == 1)
            #expect(
                try await world.stores.count(
                    "select count(*) as n from start_tokens where installation = \(installation)") == 1)
        }
    }

    @Test func `a renewed lease keeps the run`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.follow()
            let shard = try #require(try await world.claim().first)
            try await world.starts.extendLeases(
                of: [shard.run], replica: world.stores.replica, until: world.now.addingTimeInterval(60))
            world.stores.clock.advance(by: 30)
            #expect(try await world.claim(by: UUID()).isEmpty)
            #expect(try await world.starts.nextDue(in: .production) == world.now.addingTimeInterval(30))
            try await world.settle(shard)
            #expect(try await world.counts().accepted == 1)
        }
    }

    @Test func `a push that APNs did not process is repeated later, and one that was not sent at once`() async throws {
        try await withStarts { world in
            try await world.open()
            let (throttled, unmade) = (try await world.follow(), try await world.follow())
            let again = world.now.addingTimeInterval(5)
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

    @Test func `answers are counted by state and reason`() async throws {
        try await withStarts { world in
            try await world.open()
            let ids = [try await world.follow(), try await world.follow(), try await world.follow()]
            let shard = try #require(try await world.claim().first)
            try await world.settle(shard) { member in
                member.installation == ids[0]
                    ? .accepted
                    : member.installation == ids[1] ? .unknown(reason: "timeout") : .rejected(reason: "PayloadEmpty")
            }
            try await world.stores.pool.query("update starts set confirmed_at = now() where installation = \(ids[1])")
            let report = try await world.report()
            #expect(report.counts.accepted == 1)
            #expect(report.counts.unknown == 1)
            #expect(report.counts.rejected == 1)
            #expect(report.counts.confirmed == 1)
            #expect(report.byReason == ["PayloadEmpty": 1])
            #expect(report.startedAt == world.now)
            #expect(report.finishedAt == world.now)
        }
    }

    @Test func `an activity reported before its push is settled counts as accepted and confirmed`() async throws {
        try await withStarts { world in
            try await world.open()
            let installation = try await world.follow()
            let shard = try #require(try await world.claim().first)
            try await world.stores.pool.query(
                """
                insert into starts (run, installation, state, at, confirmed_at)
                values (\(shard.run), \(installation), 'unknown', \(world.now), \(world.now))
                """)
            try await world.settle(shard)
            let counts = try await world.counts()
            #expect(counts.accepted == 1)
            #expect(counts.confirmed == 1)
            #expect(counts.unknown == 0)
        }
    }

    @Test func `an invalid token is removed, and one replaced meanwhile is used`() async throws {
        try await withStarts { world in
            try await world.open()
            let (gone, replaced) = (try await world.follow(), try await world.follow(token: "aaaa"))
            let shard = try #require(try await world.claim().first)
            world.stores.clock.advance(by: 1)
            try await world.register("bbbb", of: replaced)
            try await world.queue(replaced)
            try await world.settle(shard) { _ in .gone(reason: "Unregistered", since: nil) }
            #expect(try await world.counts().rejected == 2)
            let next = try #require(try await world.claim().first)
            #expect(next.members.map(\.token.hex) == ["bbbb"])
            #expect(try await world.counts().pending == 1)
            try await world.settle(next)
            let counts = try await world.counts()
            #expect(counts.accepted == 1)
            #expect(counts.rejected == 1)
            #expect(
                try await world.stores.count("select count(*) as n from start_tokens where installation = \(gone)") == 0
            )
        }
    }

    @Test func `an installation that was or may have been reached gets no other start with a new token`() async throws {
        try await withStarts { world in
            try await world.open()
            let ids = [try await world.follow(), try await world.follow(), try await world.follow()]
            let shard = try #require(try await world.claim().first)
            try await world.settle(shard) { member in
                member.installation == ids[0]
                    ? .accepted : member.installation == ids[1] ? .unknown(reason: "") : .rejected(reason: "BadTopic")
            }
            for (place, id) in ids.enumerated() {
                try await world.register("cc0\(place)", of: id)
                try await world.queue(id)
            }
            #expect(try await world.sendAll().isEmpty)
        }
    }

    @Test func `a token registered after APNs called it invalid is kept`() async throws {
        try await withStarts { world in
            try await world.open()
            let installation = try await world.follow()
            let shard = try #require(try await world.claim().first)
            let since = world.now.addingTimeInterval(-1)
            try await world.settle(shard) { _ in .gone(reason: "Unregistered", since: since) }
            #expect(
                try await world.stores.count(
                    "select count(*) as n from start_tokens where installation = \(installation)") == 1)
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
            try await world.queue(installation)
            #expect(try await world.sendAll().isEmpty)
            try await world.register("abcd", of: installation)
            try await world.queue(installation)
            #expect(try await world.sendAll() == [installation])
        }
    }
}
