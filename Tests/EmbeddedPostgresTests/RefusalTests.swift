internal import Foundation
internal import Testing

@testable internal import EmbeddedPostgres

/// Starts that cannot succeed. Each has one clear error line and leaves nothing behind.
@Suite(.timeLimit(.minutes(20)))
struct RefusalTests {
    private let workshop: Workshop

    init() throws {
        workshop = try Workshop()
    }

    private func refusal(at directory: String? = nil, programs: [String]? = nil) async throws -> String {
        let cluster = workshop.cluster(at: directory, programs: programs)
        let refusal = await #expect(throws: PostgresClusterError.self) { _ = try await cluster.start() }
        await cluster.stop()
        return try #require(refusal).description
    }

    @Test func `without programs the error says what to install`() async throws {
        let refusal = try await refusal(programs: [workshop.folder])
        #expect(refusal.contains("`apt-get install postgresql` or `brew install postgresql`"))
    }

    @Test func `a file with the name of the directory is refused`() async throws {
        let file = "\(workshop.folder)/file"
        try "".write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try await refusal(at: file).hasPrefix("\(file) cannot hold the embedded database: "))
        #expect(try await refusal(at: "\(file)/below").contains("cannot hold the embedded database"))
    }

    @Test func `a folder with other files is refused`() async throws {
        let data = "\(workshop.directory)/postgres"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try "mine".write(toFile: "\(data)/notes", atomically: false, encoding: .utf8)
        let why = "it contains files that are not PostgreSQL's; choose another GRANDSTAND_DATA_DIR"
        #expect(try await refusal() == "\(data) cannot hold the embedded database: \(why)")
        #expect(try String(contentsOfFile: "\(data)/notes", encoding: .utf8) == "mine")
    }

    @Test func `if initdb fails the error shows its last words`() async throws {
        let installation = try await workshop.installation(
            initdb: "echo 'creating …'; echo 'initdb: error: no room'; exit 1")
        let refusal = try await refusal(programs: [installation])
        #expect(refusal.hasSuffix("could not be created, initdb said: initdb: error: no room"))
        let left = try FileManager.default.contentsOfDirectory(atPath: workshop.directory)
        #expect(Set(left) == ["postgres.lock", "run"])
    }

    @Test func `an existing cluster that cannot start says why`() async throws {
        try await workshop.withCluster { _, _ in }
        let data = "\(workshop.directory)/postgres"
        let settings = "\(data)/postgresql.auto.conf"
        let before = try String(contentsOfFile: settings, encoding: .utf8)
        try "no such setting\n".write(toFile: settings, atomically: false, encoding: .utf8)
        let failed = try await refusal()
        #expect(failed.contains("its log \(workshop.directory)/postgres.log ends: "))
        #expect(failed.contains("postgresql.auto.conf"))
        try before.write(toFile: settings, atomically: false, encoding: .utf8)

        let sockets = "\(workshop.directory)/run"
        try FileManager.default.createDirectory(atPath: sockets, withIntermediateDirectories: true)
        #expect(chmod(sockets, 0o777) == 0)
        #expect(try await refusal().contains("\(sockets) is not private: remove it"))
        try FileManager.default.removeItem(atPath: sockets)

        try "9\n".write(toFile: "\(data)/PG_VERSION", atomically: false, encoding: .utf8)
        let version = try await refusal()
        #expect(version.hasPrefix("\(data) was made by PostgreSQL 9, whose programs are not installed"))
        #expect(version.contains("postgresql-9"))
    }
}
