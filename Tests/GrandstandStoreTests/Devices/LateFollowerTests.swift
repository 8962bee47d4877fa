internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Late followers of an open start, and installations that take over a token that a start went to.
@Suite(.timeLimit(.minutes(20)))
struct LateFollowerTests {
    @Test func `a late follower is queued for each open start in the same commit`() async throws {
        try await withPhones { phones in
            for key in ["match-1", "match-2", "match-3"] { try await phones.stores.put(.sample(key)) }
            let run = try await phones.open()
            let both = try await phones.open("match-2", topics: ["team:b", "team:a"])
            let other = try await phones.open("match-3", topics: ["team:c"])
            let id = try Phones.id()
            try await phones.put(Phones.state(), of: id)
            let row = try await phones.row(id)
            #expect(try await phones.queued(run) == [row])
            #expect(try await phones.queued(both) == [row])
            #expect(try await phones.queued(other) == [])
        }
    }

    @Test func `an installation that cannot get a start, or got it, is not queued`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let had = try Phones.id()
            let refused = try Phones.id()
            let known = try Phones.id()
            try await phones.put(Phones.state(token: "a1"), of: had)
            try await phones.put(Phones.state(token: "a2"), of: refused)
            try await phones.put(Phones.state(token: "a3"), of: known)
            let run = try await phones.open()
            try await phones.start(run, phones.row(had))
            try await phones.start(run, phones.row(refused), "rejected", reason: "Unregistered")
            try await phones.put(Phones.state(token: "b1"), of: had)
            try await phones.put(Phones.state(token: "b2"), of: refused)
            var language = try Phones.state(token: "a3")
            language.locale = "fr"
            try await phones.put(language, of: known)
            var disabled = try Phones.state(token: "a4")
            disabled.liveActivitiesEnabled = false
            try await phones.put(disabled, of: Phones.id())
            try await phones.put(Phones.state(token: "a5", system: "17.1"), of: Phones.id())
            try await phones.put(Phones.state(token: nil), of: Phones.id())
            try await phones.put(Phones.state(token: "a6", topics: ["team:z"]), of: Phones.id())
            #expect(try await phones.queued(run) == [phones.row(refused)])
            try await phones.stores.pool.query("update fan_outs set closed_at = now()")
            try await phones.put(Phones.state(token: "a7"), of: Phones.id())
            #expect(try await phones.queued(run).count == 1)
        }
    }

    /// A registration waits for an opening that has the lock. After the commit of the opening, the registration sees
    /// the run.
    @Test func `a registration during the opening of a start waits for it and is queued`() async throws {
        try await withPhones { phones in
            try await phones.stores.put(.sample())
            let id = try Phones.id()
            let (run, registering) = try await phones.stores.pool.transaction { connection in
                try await connection.query(StartOpening.exclusive)
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
            #expect(try await phones.queued(run) == [phones.row(id)])
        }
    }

    @Test
    func
        `an installation that takes over a token counts as started if the earlier owner was, otherwise it is queued`()
        async throws
    {
        try await withPhones { phones in
            for key in ["match-1", "match-2", "match-3"] { try await phones.stores.put(.sample(key)) }
            let old = try Phones.id()
            try await phones.put(Phones.state(token: "aa"), of: old)
            let oldRow = try await phones.row(old)
            let accepted = try await phones.open()
            let open = try await phones.open("match-2")
            let unfollowed = try await phones.open("match-3", topics: ["team:c"])
            try await phones.start(accepted, oldRow)
            let new = try Phones.id()
            try await phones.put(Phones.state(token: "aa"), of: new)
            let newRow = try await phones.row(new)
            #expect(try await phones.known(old).state.startTokens == [:])
            #expect(try await phones.started(accepted) == [oldRow: "accepted", newRow: "accepted"])
            #expect(try await phones.started(open) == [:])
            #expect(try await phones.queued(accepted) == [])
            // The new installation is queued for both runs, because it may begin to follow while a push to its token is
            // under way.
            for run in [open, unfollowed] {
                #expect(try await phones.queued(run) == [newRow])
                #expect(
                    try await phones.stores.rows("fan_out_queue where run = \(run) and former = \([oldRow])") == 1)
            }
        }
    }
}
