internal import APNsSimulator
internal import EmbeddedPostgres
internal import Foundation
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
        } catch let error as StartError {
            #expect(!error.description.contains("\n"))
            return error.description
        }
        Issue.record("the server started")
        return ""
    }

    @Test func `a port in use is named`() async throws {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                let port = try #require(URL(string: stage.url)?.port)
                let line = try await Self.refusal(environment.merging(["GRANDSTAND_PORT": String(port)]) { $1 })
                #expect(line.hasPrefix("GRANDSTAND_PORT: port \(port) "))
                #expect(try await stage.api("GET", "/readyz").status == 200)
            }
        }
    }

    /// `DatabaseClockTests` have a clock that becomes wrong while the server runs.
    @Test func `a server whose clock is more than 10 s off does not start, and says what to do`() async throws {
        try await Stage.place { environment, _ in
            for seconds in [-11.0, 11, 3_600] {
                let line = try await Self.refusal(environment, lead: seconds)
                #expect(
                    line.contains(seconds < 0 ? "11.0 s behind the database's" : "s ahead of the database's"), "\(line)"
                )
                #expect(line.contains("NTP"))
            }
        }
    }

    @Test func `an incompatible newer database is refused by running and starting servers, with advice`() async throws {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await PostgresCluster.withPool(try #require(environment["DATABASE_URL"])) { pool in
                    try await pool.withConnection { try await $0.script(Self.future) }
                }
                let answer = try await until("it is not ready") {
                    let answer = try await stage.api("GET", "/readyz")
                    return answer.status == 503 ? answer : nil
                }
                #expect(answer.text.contains("run a newer one"), "\(answer.text)")
            }
            let line = try await Self.refusal(environment)
            #expect(line.contains("Only builds that know migration 100000") && line.contains("run a newer one"))
        }
    }

    /// A migration of the next release, which this build does not know and cannot work with.
    private static let future = """
        create table of_the_next_release (id integer);
        alter table events add column of_the_next_release text;
        insert into schema_migrations (version, name, checksum)
            select max(version) + 1, 'of_the_next_release', 'x' from schema_migrations;
        update schema_compatibility set least = 100000;
        """

    @Test func `a database without the schema says which command to run`() async throws {
        try await withDatabase(.empty) { database in
            let line = try await Self.refusal(["DATABASE_URL": database.connectionString])
            #expect(line.contains("grandstand migrate"))
        }
    }

    @Test func `the error for an unreachable database does not contain the password`() async throws {
        let line = try await Self.refusal(["DATABASE_URL": "postgres://user:topsecret@127.0.0.1:1/grandstand"])
        #expect(line.contains("database"))
        #expect(!line.contains("topsecret"))
    }
}
