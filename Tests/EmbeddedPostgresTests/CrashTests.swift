internal import Foundation
internal import Logging
internal import Testing

@testable internal import EmbeddedPostgres

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Clusters whose process ends in the middle; the process is a real one.
@Suite(.timeLimit(.minutes(1)))
struct CrashTests {
    private let workshop: Workshop

    init() throws {
        workshop = try Workshop()
    }

    @Test func theNextStartTakesOverAfterKill() async throws {
        let directory = workshop.directory
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory] in
            let cluster = PostgresCluster(directory: directory, logger: Logger(label: "test"), durable: false)
            let connection = try await cluster.start()
            _ = try await Workshop.ask(connection, "create table kept as select 42 as answer")
            kill(getpid(), SIGKILL)
        }
        try await workshop.withCluster { _, connection in
            #expect(try await Workshop.ask(connection, "select answer from kept") == "42")
        }
        // The server was stopped, not found dead: it had nothing to repair.
        #expect(try workshop.log(of: "postgres.log").contains("was shut down at"))
    }

    @Test func theServerEndsWithAProcessThatForgetsIt() async throws {
        let directory = workshop.directory
        await #expect(processExitsWith: .success) { [directory] in
            let cluster = PostgresCluster(directory: directory, logger: Logger(label: "test"), durable: false)
            _ = try await cluster.start()
            exit(0)
        }
        try await workshop.withCluster { _, _ in }
        #expect(try workshop.log(of: "postgres.log.1").contains("database system is shut down"))
    }

    @Test func anotherProcessIsRefused() async throws {
        try await workshop.withCluster { _, connection in
            let directory = workshop.directory
            await #expect(processExitsWith: .success) { [directory] in
                let second = PostgresCluster(directory: directory, logger: Logger(label: "test"), durable: false)
                let refusal = await #expect(throws: PostgresClusterError.self) { _ = try await second.start() }
                #expect(refusal?.reason == .heldByProcess(path: directory, pid: Int(getppid())))
            }
            #expect(try await Workshop.ask(connection, "select 1") == "1")
        }
    }

    @Test func aServerWithoutItsShellIsStoppedAndReplaced() async throws {
        let directory = workshop.directory
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory] in
            let cluster = PostgresCluster(directory: directory, logger: Logger(label: "test"), durable: false)
            let connection = try await cluster.start()
            _ = try await Workshop.ask(connection, "create table kept as select 42 as answer")
            cluster.killShell()
            kill(getpid(), SIGKILL)
        }
        try await workshop.withCluster { _, connection in
            #expect(try await Workshop.ask(connection, "select answer from kept") == "42")
        }
    }

    @Test func stopsAServerThatLostItsShell() async throws {
        let cluster = workshop.cluster()
        let connection = try await cluster.start()
        cluster.killShell()
        await cluster.stop()
        await #expect(throws: PsqlFailure.self) { try await Workshop.ask(connection, "select 1") }
    }

    @Test func repairsTheDataOfAServerThatWasKilled() async throws {
        let cluster = workshop.cluster()
        let connection = try await cluster.start()
        _ = try await Workshop.ask(connection, "create table kept as select 42 as answer")
        let server = try #require(PostmasterFile(path: "\(workshop.directory)/postgres/postmaster.pid"))
        kill(server.pid, SIGKILL)
        // Its file says "ready" for ever; starting again waits for the new server's word.
        await cluster.stop()
        try await workshop.withCluster { _, connection in
            #expect(try await Workshop.ask(connection, "select answer from kept") == "42")
        }
        #expect(try workshop.log(of: "postgres.log").contains("was not properly shut down"))
    }

    @Test func aProcessNumberThatIsSomebodyElsesNowDoesNotStandInTheWay() async throws {
        try await workshop.withCluster { _, _ in }
        let file = "\(workshop.directory)/postgres/postmaster.pid"
        // This test's own process: alive, and no PostgreSQL.
        try "\(getpid())\n\(workshop.directory)/postgres\n1700000000\n5432\n/tmp\n\n  12345 0\nready\n"
            .write(toFile: file, atomically: false, encoding: .utf8)
        try Workshop.give(file, toOwnerOf: "\(workshop.directory)/postgres")
        try await workshop.withCluster { _, connection in
            #expect(try await Workshop.ask(connection, "select 1") == "1")
        }
    }
}

extension PostgresCluster {
    /// Kills the shell and what it waits with, so that nobody is left to stop the server.
    fileprivate func killShell() {
        guard let shell = shellProcess else { return }
        let reader = Process()
        reader.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The reader is the child of the shell that has no program of its own.
        reader.arguments = ["-c", "kill -KILL $(ps -o pid=,ppid=,comm= | awk -v s=\(shell) '$2 == s && $3 == \"sh\" { print $1 }')"]
        kill(shell, SIGKILL)
    }
}
