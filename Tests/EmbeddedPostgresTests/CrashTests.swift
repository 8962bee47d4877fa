internal import Foundation
internal import Testing

@testable internal import EmbeddedPostgres

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The process that started a cluster, or the cluster's server, ends unexpectedly. The tests use real processes.
@Suite(.timeLimit(.minutes(20)))
struct CrashTests {
    @Test func `after a kill the next start takes the cluster over`() async throws {
        let workshop = try Workshop(name: "kill-\(getpid())")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let directory = Workshop.folder(named: "kill-\(getppid())") + "/data"
            let cluster = PostgresCluster(directory: directory, logger: Workshop.silence, durable: false)
            let connection = try await cluster.start()
            _ = try await Workshop.ask(connection, "create table kept as select 42 as answer")
            kill(getpid(), SIGKILL)
        }
        #expect(try await workshop.answer("select answer from kept") == "42")
        // The server was stopped and had nothing to recover.
        #expect(try workshop.log(of: "postgres.log").contains("was shut down at"))
    }

    @Test func `the server ends when the process that started it exits without stopping it`() async throws {
        let workshop = try Workshop(name: "exit-\(getpid())")
        await #expect(processExitsWith: .success) {
            let directory = Workshop.folder(named: "exit-\(getppid())") + "/data"
            let cluster = PostgresCluster(directory: directory, logger: Workshop.silence, durable: false)
            _ = try await cluster.start()
            exit(0)
        }
        try await workshop.withCluster { _, _ in }
        #expect(try workshop.log(of: "postgres.log.1").contains("database system is shut down"))
    }

    @Test func `a second process is refused`() async throws {
        let workshop = try Workshop(name: "second-\(getpid())")
        try await workshop.withCluster { _, connection in
            await #expect(processExitsWith: .success) {
                let directory = Workshop.folder(named: "second-\(getppid())") + "/data"
                let second = PostgresCluster(directory: directory, logger: Workshop.silence, durable: false)
                let refusal = await #expect(throws: PostgresClusterError.self) { _ = try await second.start() }
                #expect(refusal?.reason == .heldByProcess(path: directory, pid: Int(getppid())))
            }
            let answer = try await Workshop.ask(connection, "select 1")
            #expect(answer == "1")
        }
    }

    @Test func `a server whose starting process is gone is stopped and replaced`() async throws {
        let workshop = try Workshop()
        _ = try await workshop.answer("create table kept as select 42 as answer")
        let log = try await workshop.startDetachedServer()
        #expect(try await workshop.answer("select answer from kept") == "42")
        #expect(try String(contentsOfFile: log, encoding: .utf8).contains("received fast shutdown request"))
    }

    @Test func `the data of a killed server are recovered`() async throws {
        let workshop = try Workshop()
        let cluster = workshop.cluster()
        let connection = try await cluster.start()
        _ = try await Workshop.ask(connection, "create table kept as select 42 as answer")
        let server = try #require(PostmasterFile(path: "\(workshop.directory)/postgres/postmaster.pid"))
        kill(server.pid, SIGKILL)
        await cluster.serverEnding()
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
        let file = "\(workshop.directory)/postgres/postmaster.pid"
        // The process ID of this test. The process is alive, and is not PostgreSQL.
        try "\(getpid())\n\(workshop.directory)/postgres\n1700000000\n5432\n/tmp\n\n  12345 0\nready\n"
            .write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try await workshop.answer("select 1") == "1")
    }
}
