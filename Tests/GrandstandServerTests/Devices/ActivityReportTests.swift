internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Activities that apps report.
@Suite(.timeLimit(.minutes(20)))
struct ActivityReportTests {
    private func inCrowd(_ phones: Phones) async throws -> Int {
        try await phones.stores.rows("activities where in_crowd")
    }

    @Test func `a repeated report is the same activity, and keeps a token or channel that it omits`() async throws {
        try await withPhone { phones, id in
            #expect(try await phones.report(of: id))
            #expect(try await inCrowd(phones) == 0)
            #expect(try await !phones.report(of: id, token: "cc"))
            #expect(try await inCrowd(phones) == 1)
            #expect(try await !phones.report(of: id, .stale))
            #expect(try await phones.known(id).activities.map(\.updateToken) == ["…cc"])
            #expect(try await inCrowd(phones) == 1)
            // A refused token is used again only when it is reported again.
            try await phones.stores.pool.query("update activities set suspect_since = now()")
            try await phones.report(of: id)
            #expect(try await inCrowd(phones) == 0)
            try await phones.report(of: id, token: "cc")
            #expect(try await inCrowd(phones) == 1)
            #expect(try await !phones.report(of: id, channelID: "apple-1"))
            #expect(try await inCrowd(phones) == 0)
            try await phones.store.forget(activity: "activity-1", of: id, secret: Phones.secret)
            #expect(try await phones.known(id).activities == [])
        }
    }

    @Test func `a start is confirmed by a newer activity of its type, unless APNs refused it`() async throws {
        try await withPhones { phones in
            let (id, other) = (try Phones.id(), try Phones.id())
            try await phones.put(Phones.state(token: "a1"), of: id)
            try await phones.put(Phones.state(token: "a2"), of: other)
            let cases = [
                ("unknown", false, Phones.type, true), ("sending", false, Phones.type, true),
                ("accepted", true, Phones.type, false), ("sending", true, Phones.type, false),
                ("rejected", false, Phones.type, false), ("accepted", false, "Other", false),
            ]
            for (number, (state, isEarlier, type, isConfirmed)) in cases.enumerated() {
                let key = "match-\(number)"
                try await phones.stores.put(.sample(), as: key)
                if isEarlier { try await phones.report("of-\(key)", of: id, key: key) }
                phones.stores.clock.advance(by: 10)
                let run = try await phones.open(key)
                try await phones.stores.pool.query(
                    "update start_runs set attributes_type = \(type) where id = \(run)")
                let reason = state == "rejected" ? "BadTopic" : nil
                try await phones.start(run, phones.row(id), state, reason: reason)
                try await phones.start(run, phones.row(other))
                phones.stores.clock.advance(by: 10)
                func confirmed() async throws -> Int {
                    try await phones.stores.rows("starts where run = \(run) and confirmed_at is not null")
                }
                try await phones.report("of-\(key)", of: id, key: key)
                #expect(try await confirmed() == (isConfirmed ? 1 : 0), "\(cases[number])")
                try await phones.report("new-\(key)", of: id, key: key)
                #expect(try await confirmed() == (isConfirmed || isEarlier ? 1 : 0), "\(cases[number])")
            }
        }
    }

    @Test func `an installation keeps its newest activities, and loses ended ones first`() async throws {
        try await withPhone { phones, id in
            try await phones.report("shown", of: id)
            for number in 0..<20 {
                phones.stores.clock.advance(by: 1)
                try await phones.report("ended-\(number)", of: id, .ended)
            }
            let newest = Set((20 - DeviceBounds.maxActivities + 1..<20).map { "ended-\($0)" })
            #expect(Set(try await phones.known(id).activities.map(\.activityId)) == newest.union(["shown"]))
        }
    }

    @Test func `an installation's different tokens are counted together with those it registered`() async throws {
        try await withPhone { phones, id in
            // The registration had one token. It counts as one of the `DeviceBounds.tokensAtOnce` tokens that are accepted at
            // once.
            for number in 1..<DeviceBounds.tokensAtOnce {
                for _ in 0..<2 { try await phones.report(of: id, token: "cc\(10 + number)") }
            }
            try await refuses(.rateLimited) { try await phones.report("other", of: id, token: "dd") }
            try await phones.report("other", of: id)
            try await refuses(.rateLimited) { try await phones.put(Phones.state(token: "ee"), of: id) }
            try await phones.report(of: id, .ended, token: "cc\(10 + DeviceBounds.tokensAtOnce - 1)")
            phones.stores.clock.advance(by: DeviceBounds.tokenInterval)
            try await phones.put(Phones.state(token: "ee"), of: id)
            try await refuses(.rateLimited) { try await phones.report(of: id, token: "dd") }
        }
    }

    // MARK: Others write the same rows

    @Test func `an installation forgotten during its report is gone, and so are its activities`() async throws {
        try await withPhone { phones, id in
            let row = try await phones.row(id)
            let reporting = try await phones.stores.pool.transaction { connection in
                try await connection.query("delete from installations where id = \(row)")
                let reporting = Task { try await problem { try await phones.report(of: id, token: "cc") } }
                try await phones.stores.untilSomebodyWaits()
                return reporting
            }
            #expect(try await reporting.value == .installationNotFound)
            #expect(try await phones.stores.rows("activities") == 0)
        }
    }
}

/// Late followers of an open start, and installations that take over a token that a start went to.
@Suite(.timeLimit(.minutes(20)))
struct LateFollowerTests {
    @Test func `an installation that got a start, or began to follow after its end, is not queued`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let (had, refused) = (try Phones.id(), try Phones.id())
            for (id, token) in [(had, "a1"), (refused, "a2")] {
                try await phones.put(Phones.state(token: token), of: id)
            }
            let run = try await phones.open()
            try await phones.stores.put(.sample(), as: "match-2")
            let other = try await phones.open("match-2", topics: ["team:c"])
            try await phones.start(run, phones.row(had))
            try await phones.start(run, phones.row(refused), "rejected", reason: "Unregistered")
            for (id, token) in [(had, "b1"), (refused, "b2")] {
                try await phones.put(Phones.state(token: token), of: id)
            }
            #expect(try await phones.pending(run) == [phones.row(refused)])
            #expect(try await phones.pending(other) == [])
            try await phones.stores.pool.query("update start_runs set closed_at = now()")
            try await phones.put(Phones.state(token: "a7"), of: Phones.id())
            #expect(try await phones.pending(run).count == 1)
        }
    }

    /// A registration waits for an opening that has the lock. After the commit of the opening, the registration sees
    /// the run.
    @Test func `a registration during the opening of a start waits for it and is queued`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let id = try Phones.id()
            let (run, registering) = try await phones.stores.pool.transaction { connection in
                try await connection.query(StartStore.openingLock)
                let run = try await phones.open(on: connection)
                let registering = Task { try await phones.put(Phones.state(), of: id) }
                try await until("the registration waits for the opening") {
                    try await phones.stores.count(
                        """
                        select count(*) as n from pg_locks where locktype = 'advisory' and not granted
                            and database = (select oid from pg_database where datname = current_database())
                        """) == 1
                }
                return (run, registering)
            }
            #expect(try await registering.value)
            #expect(try await phones.pending(run) == [phones.row(id)])
        }
    }

    @Test func `while a registration hangs, no start opens and others are registered`() async throws {
        try await withStarts { world in
            try await world.open()
            try await world.stores.put(.sample(), as: "declared")
            try await world.stores.pool.query(
                """
                insert into event_starts select (jsonb_populate_record(s, '{"event_key": "declared"}')).* from event_starts s
                """)
            try await world.stores.pool.transaction { connection in
                try await connection.query(StartStore.registrationLock)
                // Another event is being declared: its row is skipped.
                try await connection.query("select from event_starts where event_key = 'declared' for no key update")
                #expect(try await world.claim().isEmpty)
                try await world.follow()
            }
            world.stores.clock.advance(by: 1)
            #expect(try await world.claim().count == 1)
        }
    }
}
