internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// This release runs beside the next release: the database gets migrations that this build does not know.
@Suite(.timeLimit(.minutes(20)))
struct CompatibilityTests {
    @Test func `an incompatible newer database is refused by running and starting servers, with advice`() async throws {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await Self.change(
                    environment, Self.future + "update schema_compatibility set least = 100000;")
                let answer = try await until("it is not ready") {
                    let answer = try await stage.api("GET", "/readyz")
                    return answer.status == 503 ? answer : nil
                }
                #expect(answer.text.contains("run a newer one"), "\(answer.text)")
            }
            let error = await #expect(throws: StartError.self) {
                try await Server.build(try Configuration(environment: environment), logger: Stage.logger)
            }
            #expect(error?.description.contains("Only builds that know migration 100000") == true)
            #expect(error?.description.contains("run a newer one") == true)
        }
    }

    /// A migration of the next release.
    private static let future = """
        create table of_the_next_release (id integer);
        alter table events add column of_the_next_release text;
        insert into schema_migrations (version, name, checksum)
            select max(version) + 1, 'of_the_next_release', 'x' from schema_migrations;
        """

    private static func change(_ environment: [String: String], _ sql: String) async throws {
        let pool = PostgresPool(
            configuration: PostgresConfiguration(connectionString: try #require(environment["DATABASE_URL"])),
            logger: Stage.logger)
        try await pool.withConnection { try await $0.script(sql) }
        await pool.close()
    }
}
