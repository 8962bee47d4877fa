internal import Foundation
internal import Testing

@testable internal import EmbeddedPostgres

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
        while FileManager.default.fileExists(atPath: "\(workshop.directory)/postgres/postmaster.pid") {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try workshop.log(of: "postgres.log").contains("database system is shut down"))
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
            let answer = try await Workshop.ask(connection, "select 1")
            #expect(answer == "1")
        }
    }

    @Test func `a server whose starting process is gone is stopped and replaced`() async throws {
        let workshop = try Workshop()
        _ = try await workshop.answer("create table kept as select 42 as answer")
        let log = try await workshop.startDetachedServer(data: "\(workshop.directory)/postgres")
        #expect(try await workshop.answer("select answer from kept") == "42")
        #expect(try String(contentsOfFile: log, encoding: .utf8).contains("received fast shutdown request"))
    }

    @Test func `a server that somebody else has started on the data is left alone`() async throws {
        let workshop = try Workshop()
        _ = try await workshop.answer("select 1")
        let link = "\(workshop.directory)/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "postgres")
        let log = try await workshop.startDetachedServer(data: link)
        let refusal = await #expect(throws: PostgresClusterError.self) { _ = try await workshop.answer("select 1") }
        #expect(refusal?.isHeld == true)
        #expect(try !String(contentsOfFile: log, encoding: .utf8).contains("shutdown request"))
        try FileManager.default.removeItem(atPath: link)
        try await workshop.stopDetachedServer()
    }

    @Test func `the data of a killed server are recovered`() async throws {
        let workshop = try Workshop()
        let cluster = workshop.cluster()
        let connection = try await cluster.start()
        _ = try await Workshop.ask(connection, "create table kept as select 42 as answer")
        let file = try String(contentsOfFile: "\(workshop.directory)/postgres/postmaster.pid", encoding: .utf8)
        kill(try #require(pid_t(file.prefix { $0 != "\n" })), SIGKILL)
        while try await cluster.afterLast({ $0 }).value?.isRunning == true {
            try await Task.sleep(for: .milliseconds(10))
        }
        // The killed server's `postmaster.pid` still says "ready". The start waits until the new server has written
        // this file.
        #expect(try await cluster.start() == connection)
        #expect(try await Workshop.ask(connection, "select answer from kept") == "42")
        await cluster.stop()
        #expect(try workshop.log(of: "postgres.log").contains("was not properly shut down"))
    }

    @Test func `a process number that now belongs to another program does not block the start`() async throws {
        let workshop = try Workshop()
        try await workshop.withCluster { _, _ in }
        // A process that is alive, is not PostgreSQL, and has the account of the server, so that PostgreSQL itself would
        // take it for one.
        let stranger = try await workshop.startStranger()
        defer { kill(stranger.processIdentifier, SIGKILL) }
        let file = "\(workshop.directory)/postgres/postmaster.pid"
        let lines = "\(workshop.directory)/postgres\n1700000000\n5432\n/tmp\n\n  12345 0\nready\n"
        // A start that is given up may end before its server has replaced the number.
        for isCancelled in [true, false] {
            try "\(stranger.processIdentifier)\n\(lines)".write(toFile: file, atomically: false, encoding: .utf8)
            let cluster = workshop.cluster()
            let start = Task { try await cluster.start() }
            if isCancelled { start.cancel() }
            let connection = try? await start.value
            #expect((connection == nil) == isCancelled)
            await cluster.stop()
            #expect(stranger.isRunning)
        }
    }
}
