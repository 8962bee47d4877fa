internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Faults that stop a server's start: one line names each, and no process is left running.
@Suite(.timeLimit(.minutes(20)))
struct StartTests {
    /// Builds a server that must not start, and returns the line that names the fault.
    private static func refusal(_ environment: [String: String]) async throws -> String {
        let configuration = try Configuration(
            environment: environment.merging(["GRANDSTAND_PORT": "0"]) { given, _ in given })
        do {
            await (try Server.build(configuration, logger: Stage.logger)).close()
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

    @Test func `a key file that cannot sign stops no start; an invalid certificate is named, its contents are not`()
        async throws
    {
        try await Stage.place { environment, _ in
            let folder = try TemporaryFolder()
            let file = folder.file("AuthKey_BROKEN7890.p8")
            try folder.write("topsecret", to: "AuthKey_BROKEN7890.p8")
            let keys = ["GRANDSTAND_APNS_KEY_DIR": folder.path]
            let configuration = try Configuration(environment: environment.merging(keys) { $1 })
            await (try Server.build(configuration, logger: Stage.logger)).close()

            let error = await #expect(throws: ConfigurationError.self) {
                let tls = ["GRANDSTAND_TLS_CERT": file, "GRANDSTAND_TLS_KEY": file]
                let configuration = try Configuration(environment: environment.merging(tls) { $1 })
                await (try Server.build(configuration, logger: Stage.logger)).close()
            }
            #expect(error?.description.hasPrefix("GRANDSTAND_TLS_CERT: ") == true)
            #expect(error?.description.contains("topsecret") == false)
        }
    }

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
