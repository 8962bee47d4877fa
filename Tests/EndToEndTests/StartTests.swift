internal import EmbeddedPostgres
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Faults that stop a server's start: one line names each, and no process is left running.
@Suite(.timeLimit(.minutes(20)))
struct StartTests {
    /// Builds a server that must not start, and returns the line that names the fault.
    ///
    /// - Parameter lead: seconds by which the clock of its machine is ahead.
    private static func refusal(_ environment: [String: String], lead: TimeInterval = 0) async throws -> String {
        let configuration = try Configuration(
            environment: environment.merging(["GRANDSTAND_PORT": "0"]) { given, _ in given })
        do {
            await (try Server.build(configuration, wallClock: { Date() + lead }, logger: Stage.logger)).close()
        } catch let error as ExitError {
            #expect(!error.description.contains("\n"))
            return error.description
        }
        Issue.record("the server started")
        return ""
    }

    @Test func `a port in use is named`() async throws {
        try await Stage.with { stage in
            let port = try #require(URL(string: stage.url)?.port)
            let line = try await Self.refusal(stage.environment.merging(["GRANDSTAND_PORT": String(port)]) { $1 })
            #expect(line.hasPrefix("GRANDSTAND_PORT: port \(port) "))
            try await until("it is ready") { try await stage.api("GET", "/readyz").status == 200 }
        }
    }

    /// `DatabaseClockTests` have a clock that becomes wrong while the server runs.
    @Test func `a server whose clock is more than 10 s off does not start, and says what to do`() async throws {
        try await Stage.place { environment, _ in
            for lead in [-60.0, 60, 3_600] {
                let line = try await Self.refusal(environment, lead: lead)
                #expect(line.contains("s \(lead < 0 ? "behind" : "ahead of") the database's"), "\(line)")
                #expect(line.contains("NTP"))
            }
        }
    }

    @Test func `an incompatible newer database is refused by running and starting servers, with advice`() async throws {
        try await Stage.with { stage in
            try await Stage.onDatabase(of: stage.environment) { pool in
                try await pool.withConnection { try await $0.script(Self.future) }
            }
            try await until("it is not ready, with advice") {
                let answer = try await stage.api("GET", "/readyz")
                return answer.status == 503 && answer.text.contains("run a newer one")
            }
            let line = try await Self.refusal(stage.environment)
            #expect(line.contains("Only builds that know migration 100000") && line.contains("run a newer one"))
        }
    }

    /// A migration of the next release, which this build does not know and cannot work with.
    private static let future = """
        create table of_the_next_release (id integer);
        alter table events add column of_the_next_release text;
        insert into schema_migrations (version, name, checksum, least)
            select max(version) + 1, 'of_the_next_release', 'x', 100000 from schema_migrations;
        """

    @Test func `the error for an unreachable database does not contain the password`() async throws {
        let line = try await Self.refusal(["DATABASE_URL": "postgres://user:topsecret@127.0.0.1:1/grandstand"])
        #expect(line.contains("database") && !line.contains("topsecret"))
    }

    @Test func `a database without the schema says which command to run`() async throws {
        try await withDatabase(.empty) { database in
            let line = try await Self.refusal(["DATABASE_URL": database.connectionString])
            #expect(line.contains("grandstand migrate"))
        }
    }
}

/// A database that cannot do its work: 503 says what is wrong and what to do, and the server goes on once the database
/// works again.
@Suite(.timeLimit(.minutes(20)))
struct DatabaseFaultTests {
    private static let update = #"{"event": "update", "contentState": {"n": 1}}"#

    @Test func `on a full disk requests are refused with that reason, and accepted messages are sent later`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            try await Stage.onDatabase(of: stage.environment) { pool in
                try await pool.withConnection { connection in
                    try await connection.script(
                        """
                        create function full_disk() returns trigger language plpgsql as $$
                        begin raise exception 'could not extend file "base/1/2"' using errcode = 'disk_full'; end $$;
                        create trigger full_disk before update on deliveries execute function full_disk();
                        """)
                }
                // It is accepted, but there is no room for the lease of its lane.
                let id = try await stage.broadcast(Self.update)
                try await pool.query(
                    "create trigger full_disk before insert on broadcasts execute function full_disk()")
                let refused = try await stage.api("POST", "/v1/events/derby/broadcasts", Self.update)
                #expect(refused.status == 503 && refused.slug == "store-unavailable")
                #expect(refused.headers["retry-after"] == "10")
                let detail = try #require(refused.json["detail"]?.string)
                #expect(detail.contains("disk is full") && detail.contains("Free or add space"), "\(detail)")
                #expect(!detail.contains("extend file"))
                try await until("the full disk is the reason why it is not ready") {
                    let ready = try await stage.api("GET", "/readyz")
                    return ready.status == 503 && ready.json["trouble"]?.string == "disk-full"
                }
                let numbers = try await MetricsTests.scrape(stage.api)
                #expect(numbers.contains("\ngrandstand_database_trouble{trouble=\"disk-full\"} 1\n"))

                for table in ["broadcasts", "deliveries"] {
                    try await pool.query(PostgresQuery(unsafeSQL: "drop trigger full_disk on \(table)"))
                }
                #expect(try await stage.settled(id).deliveryStates == ["accepted"])
                let next = try await stage.broadcast(Self.update)
                #expect(try await stage.settled(next).deliveryStates == ["accepted"])
            }
        }
    }
}

/// PostgreSQL goes away and comes back under a server that answers lookups.
@Suite(.timeLimit(.minutes(20)))
struct LookupOutageTests {
    private static let batch = "/v1/lookup/com.example.Stadium/development"
    private static let path = batch + "/derby"

    @Test func `lookups get old answers with an Age field during an outage, and changes are known soon after it`()
        async throws
    {
        try await Stage.onCluster(settings: ["GRANDSTAND_DATABASE_WAIT": "60"]) { cluster, environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putLiveEvent()
                let phone = try await stage.caller([.lookup], app: Stage.bundleID)
                // If something changed just before the stop, the server would know that its answer is outdated, and
                // would not give it.
                var before: HTTPCaller.Answer?
                var same = 0
                try await until("nothing changes any more") {
                    let answer = try await phone("GET", Self.path)
                    let isSame = answer.headers["etag"] == before?.headers["etag"] && answer.headers["warning"] == nil
                    same = isSame ? same + 1 : 0
                    before = answer
                    return same > 50
                }
                #expect(before?.status == 200 && before?.headers["age"] == nil)
                await cluster.stop()
                let stale = try await until("an answer says that it is old") {
                    let answer = try await phone("GET", Self.path)
                    try #require(answer.status == 200, "\(answer.text)")
                    return answer.headers["warning"] == nil ? nil : answer
                }
                #expect(stale.body == before?.body && stale.headers["warning"]?.hasPrefix("110 ") == true)
                #expect(try #require(stale.headers["age"].flatMap { Int($0) }) >= 2)
                let many = try await phone("POST", Self.batch, #"{"eventKeys": ["derby", "cup"]}"#)
                #expect(many.status == 200 && many.headers["warning"] != nil, "\(many.text)")
                #expect(many.json["items"]?.items.count == 1)
                #expect(many.json["missing"]?[0]?["reason"]?.string == "store-unavailable")
                // The server cannot tell whether this event exists.
                #expect(try await phone("GET", Self.path + "-2").slug == "store-unavailable")

                let connection = try await cluster.start()
                try await PostgresCluster.withPool(connection) {
                    try await $0.query("update events set ended_at = now()")
                }
                try await until("the change is known, and the answers are of now") {
                    let answer = try await phone("GET", Self.path)
                    return answer.status == 410 && answer.headers["warning"] == nil
                }
            }
        }
    }
}
