internal import Foundation
internal import Testing

@testable internal import EmbeddedPostgres

/// The whole life of a cluster, with PostgreSQL's programs.
@Suite(.timeLimit(.minutes(20)))
struct PostgresClusterTests {
    private let workshop: Workshop

    init() throws {
        workshop = try Workshop()
    }

    @Test func `a started cluster answers queries in its database, with its fixed settings`() async throws {
        try await workshop.withCluster { _, connection in
            let names = try await Workshop.ask(connection, "select current_database(), current_user")
            #expect(names == "grandstand|grandstand")
            // Only its user can enter the socket's folder.
            let attributes = try FileManager.default.attributesOfItem(atPath: workshop.directory + "/run")
            #expect(attributes[.posixPermissions] as? Int == 0o700)
            let settings = try await Workshop.ask(
                connection,
                """
                select name, setting from pg_settings
                where name in ('listen_addresses', 'server_encoding', 'jit', 'max_connections') order by name
                """)
            #expect(settings == "jit|off\nlisten_addresses|\nmax_connections|250\nserver_encoding|UTF8")
            let order = "select datcollate from pg_database where datname = current_database()"
            #expect(try await Workshop.ask(connection, order) == "C")
        }
    }

    @Test func `several starts and stops have the effect of one, and another process finds a running cluster`()
        async throws
    {
        let cluster = workshop.cluster()
        #expect(workshop.cluster().runningElsewhere() == nil)
        let connection = try await cluster.start()
        #expect(try await cluster.start() == connection)
        #expect(workshop.cluster().runningElsewhere() == connection)
        async let first: Void = cluster.stop()
        async let second: Void = cluster.stop()
        _ = await (first, second)
        await cluster.stop()
        await #expect(throws: ProgramFailure.self) { try await Workshop.ask(connection, "select 1") }
        #expect(workshop.cluster().runningElsewhere() == nil)
    }

    @Test(arguments: [String(repeating: "long/", count: 24) + "path", "it's a \\ \"path\" $HOME", "one, two"])
    func `a cluster with a path that is long, or has signs with a meaning, serves`(path: String) async throws {
        #expect(try await workshop.answer("select 1", at: "\(workshop.folder)/\(path)") == "1")
    }

    @Test func `two directories with long paths have different socket folders`() {
        let long = "/" + String(repeating: "d", count: ClusterLayout.socketPathLimit)
        #expect(ClusterLayout(directory: long).socketFolder == ClusterLayout(directory: long).socketFolder)
        #expect(ClusterLayout(directory: long).socketFolder != ClusterLayout(directory: long + "e").socketFolder)
        #expect(ClusterLayout(directory: "/srv/grandstand").socketFolder == "/srv/grandstand/run")
    }
}

@Suite(.timeLimit(.minutes(20)))
struct ProgramsTests {
    @Test(
        arguments: [
            ("postgres (PostgreSQL) 15.6 (Debian 15.6-1)\n", "15"), ("postgres (PostgreSQL) 18beta1\n", "18"),
            ("postgres (EnterpriseDB)\n", nil), ("", nil),
        ] as [(String, String?)])
    func `the major version is read`(line: String, version: String?) {
        #expect(Programs.majorVersion(in: line) == version)
    }

    @Test func `programs in PATH are used first`() {
        let folders = Programs.folders(path: "/first:relative:/second")
        #expect(folders.starts(with: ["/first", "/second"]))
        #expect(!folders.contains("relative"))
    }

    @Test func `links are followed to the program's folder`() async throws {
        let workshop = try Workshop()
        let real = try await workshop.installation(version: "15")
        let links = "\(workshop.folder)/links"
        try FileManager.default.createDirectory(atPath: links, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: "\(links)/postgres", withDestinationPath: "\(real)/postgres")
        #expect(Programs.installed(in: [links, real]) == [Programs(folder: real)])
        // A folder without initdb is not an installation.
        try FileManager.default.removeItem(atPath: "\(real)/initdb")
        #expect(Programs.installed(in: [real]).isEmpty)
    }

    @Test func `existing data decide the version`() async throws {
        let workshop = try Workshop()
        let newer = try await workshop.installation(version: "17")
        let older = try await workshop.installation(version: "15")
        #expect(try await Programs.find(nil, in: [newer, older], data: "/data").folder == newer)
        #expect(try await Programs.find("15", in: [newer, older], data: "/data").folder == older)
        let refusal = await #expect(throws: PostgresClusterError.self) {
            _ = try await Programs.find("16", in: [newer, older], data: "/data")
        }
        #expect(refusal?.description.contains("/data was made by PostgreSQL 16") == true)
    }

    @Test func `the reported reason is the last error, not the hint after it`() {
        #expect("LOG:  starting\nFATAL:  no room\nHINT:  make some\n\n".complaint == "FATAL:  no room")
        #expect("one\ntwo\n  \n".complaint == "two")
        #expect("".complaint == "nothing")
    }
}

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
