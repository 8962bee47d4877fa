internal import Foundation
internal import Testing

@testable internal import EmbeddedPostgres

/// The whole life of a cluster, with PostgreSQL's programs.
@Suite(.timeLimit(.minutes(20)))
struct PostgresClusterTests {
    private let workshop: Workshop

    init() throws { workshop = try Workshop() }

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
        #expect(workshop.cluster().connectionElsewhere() == nil)
        let connection = try await cluster.start()
        #expect(try await cluster.start() == connection)
        #expect(workshop.cluster().connectionElsewhere() == connection)
        async let first: Void = cluster.stop()
        async let second: Void = cluster.stop()
        _ = await (first, second)
        await cluster.stop()
        await #expect(throws: ProgramFailure.self) { try await Workshop.ask(connection, "select 1") }
        #expect(workshop.cluster().connectionElsewhere() == nil)
    }

    @Test(arguments: [String(repeating: "long/", count: 24) + "path", "it's a \\ \"path\" $HOME", "one, two"])
    func `a cluster with a path that is long, or has signs with a meaning, serves`(path: String) async throws {
        #expect(try await workshop.answer("select 1", at: "\(workshop.folder)/\(path)") == "1")
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
    }

    @Test func `links are followed to the program's folder`() async throws {
        let workshop = try Workshop()
        let real = try await workshop.installation(version: "15")
        let links = "\(workshop.folder)/links"
        try Workshop.makeFolder(links)
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
}

/// Starts that cannot succeed. Each has one clear error line and leaves nothing behind.
@Suite(.timeLimit(.minutes(20)))
struct RefusalTests {
    private let workshop: Workshop

    init() throws { workshop = try Workshop() }

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
        try Workshop.write("", to: file)
        #expect(try await refusal(at: file).hasPrefix("\(file) cannot hold the embedded database: "))
        #expect(try await refusal(at: "\(file)/below").contains("cannot hold the embedded database"))
    }

    @Test func `a folder with other files is refused`() async throws {
        let data = workshop.data
        try Workshop.makeFolder(data)
        try Workshop.write("mine", to: "\(data)/notes")
        let why = "it contains files that are not PostgreSQL's; choose another GRANDSTAND_DATA_DIR"
        #expect(try await refusal() == "\(data) cannot hold the embedded database: \(why)")
        #expect(try Workshop.text("\(data)/notes") == "mine")
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
        let data = workshop.data
        let settings = "\(data)/postgresql.auto.conf"
        let before = try Workshop.text(settings)
        try Workshop.write("no such setting\n", to: settings)
        let failed = try await refusal()
        #expect(failed.contains("its log \(workshop.directory)/postgres.log ends: "))
        #expect(failed.contains("postgresql.auto.conf"))
        try Workshop.write(before, to: settings)

        let sockets = "\(workshop.directory)/run"
        try Workshop.makeFolder(sockets)
        #expect(chmod(sockets, 0o777) == 0)
        #expect(try await refusal().contains("\(sockets) is not private: remove it"))
        try FileManager.default.removeItem(atPath: sockets)

        try Workshop.write("9\n", to: "\(data)/PG_VERSION")
        let version = try await refusal()
        #expect(version.hasPrefix("\(data) was made by PostgreSQL 9, whose programs are not installed"))
        #expect(version.contains("postgresql-9"))
    }
}

/// The process that started a cluster, or the cluster's server, ends unexpectedly. The tests use real processes.
@Suite(.timeLimit(.minutes(20)))
struct CrashTests {
    @Test func `after a kill the server ends, and the next start takes the cluster over`() async throws {
        let workshop = try Workshop(name: "kill-\(getpid())")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let directory = Workshop.folder(named: "kill-\(getppid())") + "/data"
            let cluster = PostgresCluster(directory: directory, logger: Workshop.silence, durable: false)
            let connection = try await cluster.start()
            _ = try await Workshop.ask(connection, "create table kept as select 42 as answer")
            kill(getpid(), SIGKILL)
        }
        while try !workshop.log.contains("database system is shut down") {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try await workshop.answer("select answer from kept") == "42")
    }

    @Test func `a second process is refused`() async throws {
        let workshop = try Workshop(name: "second-\(getpid())")
        try await workshop.withCluster { _, connection in
            await #expect(processExitsWith: .success) {
                let directory = Workshop.folder(named: "second-\(getppid())") + "/data"
                let second = PostgresCluster(directory: directory, logger: Workshop.silence, durable: false)
                let refusal = await #expect(throws: PostgresClusterError.self) { _ = try await second.start() }
                #expect(refusal?.isHeld == true)
                #expect(refusal?.description.hasPrefix("\(directory) is in use by process \(getppid()): ") == true)
            }
            try #require(try await Workshop.ask(connection, "select 1") == "1")
        }
    }

    @Test func `a server whose starting process is gone is stopped and replaced`() async throws {
        let workshop = try Workshop()
        _ = try await workshop.answer("create table kept as select 42 as answer")
        let log = try await workshop.startDetachedServer(data: workshop.data)
        #expect(try await workshop.answer("select answer from kept") == "42")
        #expect(try Workshop.text(log).contains("received fast shutdown request"))
    }

    @Test func `two directories with long paths have different socket folders`() {
        let long = "/" + String(repeating: "d", count: ClusterLayout.socketPathLimit)
        #expect(ClusterLayout(directory: long).socketFolder != ClusterLayout(directory: long + "e").socketFolder)
    }

    @Test func `a server that somebody else has started on the data is left alone`() async throws {
        let workshop = try Workshop()
        _ = try await workshop.answer("select 1")
        let link = "\(workshop.directory)/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "postgres")
        let log = try await workshop.startDetachedServer(data: link)
        let refusal = await #expect(throws: PostgresClusterError.self) { _ = try await workshop.answer("select 1") }
        #expect(refusal?.isHeld == true)
        #expect(try !Workshop.text(log).contains("shutdown request"))
        try FileManager.default.removeItem(atPath: link)
        try await workshop.stopDetachedServer()
    }

    @Test func `the data of a killed server are recovered`() async throws {
        let workshop = try Workshop()
        let cluster = workshop.cluster()
        let connection = try await cluster.start()
        _ = try await Workshop.ask(connection, "create table kept as select 42 as answer")
        let file = try Workshop.text("\(workshop.data)/postmaster.pid")
        kill(try #require(pid_t(file.prefix { $0 != "\n" })), SIGKILL)
        while try await cluster.afterLast({ $0 }).value?.isRunning == true {
            try await Task.sleep(for: .milliseconds(10))
        }
        // The killed server's `postmaster.pid` still says "ready". The start waits until the new server has written
        // this file.
        #expect(try await cluster.start() == connection)
        #expect(try await Workshop.ask(connection, "select answer from kept") == "42")
        await cluster.stop()
        #expect(try workshop.log.contains("was not properly shut down"))
    }

    @Test func `a process number that now belongs to another program does not block the start`() async throws {
        let workshop = try Workshop()
        try await workshop.withCluster { _, _ in }
        // A process that is alive, is not PostgreSQL, and has the account of the server, so that PostgreSQL itself would
        // take it for one.
        let stranger = try await workshop.startStranger()
        defer { kill(stranger.processIdentifier, SIGKILL) }
        let file = "\(workshop.data)/postmaster.pid"
        let lines = "\(workshop.data)\n1700000000\n5432\n/tmp\n\n  12345 0\nready\n"
        // A start that is given up may end before its server has replaced the number.
        for isCancelled in [true, false] {
            try Workshop.write("\(stranger.processIdentifier)\n\(lines)", to: file)
            let cluster = workshop.cluster()
            let connection = try? await Task {
                if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                return try await cluster.start()
            }.value
            #expect((connection == nil) == isCancelled)
            await cluster.stop()
            #expect(stranger.isRunning)
        }
    }
}
