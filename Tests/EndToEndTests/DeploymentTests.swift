internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import EmbeddedPostgres
@testable internal import GrandstandServer

/// The server behind a HAProxy that ends TLS, with the configuration of `docker/`.
@Suite(.timeLimit(.minutes(20)))
struct ProxyTests {
    private static let haproxy = ["/usr/sbin/haproxy", "/opt/homebrew/bin/haproxy", "/usr/local/sbin/haproxy"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private static func shell(_ script: String, _ arguments: String...) async throws -> String {
        try await Program.run(URL(filePath: "/bin/sh"), ["-c", script, "sh"] + arguments).text
    }

    @Test(.enabled(if: haproxy != nil, "there is no haproxy here: run scripts/setup"))
    func `behind a TLS proxy the cookie is secure, other origins are refused, and wrong keys count by client`()
        async throws
    {
        let folder = try TemporaryFolder()
        // A socket has no port that another test could take.
        let (socket, configuration) = (folder.path + "/proxy.sock", folder.path + "/haproxy.cfg")
        _ = try await Self.shell(
            """
            cd "$1" && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
            -subj /CN=console.example.com -keyout key.pem -out cert.pem && cat cert.pem key.pem >proxy.pem
            """, folder.path)
        try String(contentsOfFile: Stage.root.path + "/docker/haproxy.cfg", encoding: .utf8)
            .replacingOccurrences(
                of: #"bind "${GRANDSTAND_BIND}""#, with: "bind unix@\(socket) ssl crt \(folder.path)/proxy.pem"
            )
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        let settings = ["GRANDSTAND_TRUSTED_PROXIES": "127.0.0.1", "GRANDSTAND_AUTH_FAILURE_LIMIT": "2"]
        try await Stage.with(settings: settings) { stage in
            let address = stage.url.replacingOccurrences(of: "http://", with: "")
            let process = try ChildProcess(
                [Self.haproxy ?? "haproxy", "-db", "-f", configuration],
                ["GRANDSTAND_ONE": address, "GRANDSTAND_TWO": address])
            // Sends a request over TLS, like a browser that does not send `Sec-Fetch-Site`. HAProxy cuts connections to a
            // server that it has not checked yet, or that is too busy for its checks.
            func ask(_ line: String, _ headers: [String] = [], _ body: String = "") async throws -> String {
                let fields =
                    [
                        "\(line) HTTP/1.1", "Host: console.example.com", "Connection: close",
                        "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
                    ] + headers
                return try await until("HAProxy passes the request on") {
                    let answer = try await Self.shell(
                        #"printf %s "$1" | openssl s_client -quiet -ign_eof -unix "$2" 2>/dev/null"#,
                        fields.joined(separator: "\r\n") + "\r\n\r\n" + body, socket)
                    return answer.isEmpty || answer.hasPrefix("HTTP/1.1 503") ? nil : answer
                }
            }
            func signIn(_ headers: String...) async throws -> String {
                try await ask("POST /console/sign-in", headers, "key=\(try #require(stage.api.secret))")
            }
            let signedIn = try await signIn("Origin: https://console.example.com")
            #expect(signedIn.hasPrefix("HTTP/1.1 303"))
            let cookie = signedIn.lowercased().split(separator: "\r\n").first { $0.hasPrefix("set-cookie: ") }
            #expect(cookie?.contains("; secure") == true)
            for origin in ["http://console.example.com", "https://other.example.com"] {
                #expect(try await signIn("Origin: \(origin)").hasPrefix("HTTP/1.1 403"), "\(origin)")
            }
            // The proxy replaces the `X-Forwarded-Host` that a caller sends.
            let forged = try await signIn("Origin: https://other.example.com", "X-Forwarded-Host: other.example.com")
            #expect(forged.hasPrefix("HTTP/1.1 403"))
            await process.kill()

            func status(from address: String, _ secret: String? = "gs_guess") async throws -> Int {
                let caller = HTTPCaller(url: stage.url, secret: secret)
                return try await caller("GET", "/v1/apps", headers: ["X-Forwarded-For": address]).status
            }
            for expected in [401, 401, 429] { #expect(try await status(from: "198.51.100.7") == expected) }
            #expect(try await status(from: "198.51.100.7", stage.api.secret) == 200)
            #expect(try await status(from: "198.51.100.8") == 401)
        }
    }
}

/// API, sending and channels in processes of their own, on one database.
@Suite(.timeLimit(.minutes(20)))
struct RoleTests {
    @Test func `a broadcast that one process accepts is sent by another`() async throws {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment.merging(["GRANDSTAND_ROLES": "api"]) { $1 }, simulator: simulator) {
                stage in
                try await stage.putApp()
                try await stage.putEvent("derby")
                let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                // Nobody is there yet to make a channel or to send.
                #expect(try await stage.api("GET", "/v1/broadcasts/\(id)").json.deliveryStates == ["waiting"])
                try await Self.run("reconcile", environment) {
                    try await stage.activeChannels(of: "derby")
                    #expect(simulator.journal().count { $0.request.isBroadcast } == 0)
                    try await Self.run("dispatch", environment) {
                        let settled = try await stage.settled(id)
                        #expect(settled.deliveryStates == ["accepted"])
                    }
                }
            }
        }
    }

    /// Runs a server that has only this role, for as long as `body` runs. The server listens on no port.
    private static func run(
        _ role: String, _ environment: [String: String], _ body: () async throws -> Void
    ) async throws {
        let settings = environment.merging(["GRANDSTAND_ROLES": role]) { $1 }
        let server = try await Server.build(try Configuration(environment: settings), logger: Stage.logger)
        let running = Task { try await server.run() }
        Task { for await _ in server.ports { Issue.record("\(role) listens") } }
        func stop() async throws {
            running.cancel()
            try await running.value
        }
        try await ending(with: stop, body)
    }
}

/// The grants of packaging/roles.sql: one role makes the schema, another serves.
@Suite(.timeLimit(.minutes(20)))
struct RoleGrantsTests {
    @Test func `the owner migrates, and the server serves with the fewest connections`() async throws {
        let folder = try TemporaryFolder()
        let cluster = PostgresCluster(directory: folder.path + "/database", logger: Stage.logger, durable: false)
        let url = try await cluster.start()
        try await ending(with: { await cluster.stop() }) {
            let administration = PostgresPool(configuration: .init(connectionString: url), logger: Stage.logger)
            let programs = try await Programs.find(nil, in: Programs.folders(), data: "")
            // The script may be run again, so it runs twice here.
            for _ in 1...2 {
                let made = try await Program.run(
                    URL(filePath: programs.folder + "/psql"),
                    [
                        "-X", "-q", "-v", "database=grandstand", "-d", url, "-f",
                        Stage.root.appending(path: "packaging/roles.sql").path,
                    ])
                #expect(made.exitCode == 0, "\(made.text)")
            }
            let owner = try await DatabaseSession.connect(.url(url + " user=grandstand_owner"), logger: Stage.logger)
            #expect(try await !owner.migrate().isEmpty)
            await owner.close()

            let settings = [
                "DATABASE_URL": url + " user=grandstand_server", "GRANDSTAND_DATABASE_CONNECTIONS": "8",
                "GRANDSTAND_DATABASE_WAIT": "60",
            ]
            try await Stage.place(settings: settings) { environment, simulator in
                try await Stage.serve(environment, simulator: simulator) { stage in
                    try await stage.putLiveEvent()
                    let ids = try await concurrently(40) { n in
                        try await stage.broadcast(#"{"event": "update", "contentState": {"n": \#(n)}}"#)
                    }
                    for id in ids {
                        let states = try await stage.settled(id).deliveryStates
                        #expect(states == ["accepted"] || states == ["superseded"], "\(states)")
                    }
                    try await until("it is ready") { try await stage.api("GET", "/readyz").status == 200 }
                    let used = try await administration.query(
                        "select count(*) as count from pg_stat_activity where usename = 'grandstand_server'")
                    #expect(try used[0].decode(Int.self, "count") <= 8)
                }
            }

            await administration.close()
        }
    }
}

/// PgBouncer between the server and its database.
@Suite(.timeLimit(.minutes(20)), .enabled(if: PgBouncer.program != nil))
struct PoolerTests {
    @Test func `a match is played through PgBouncer with own sessions, and shared sessions are refused at the start`()
        async throws
    {
        let folder = try TemporaryFolder()
        try await Stage.onCluster { _, environment, _ in
            let database = try #require(environment["DATABASE_URL"])
            let bouncer = try await PgBouncer.start("session", before: database, in: folder.path)
            let settings = ["DATABASE_URL": bouncer.url, "GRANDSTAND_DATABASE_WAIT": "60"]
            try await Stage.with(settings: settings) { stage in
                try await stage.putLiveEvent()
                let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                #expect(try await stage.settled(id).deliveryStates == ["accepted"])
                let path = "/v1/lookup/\(Stage.bundleID)/development/derby"
                #expect(try await stage.api("GET", path).status == 200)
            }
            await bouncer.stop()
            let sharing = [
                ("transaction", ""), ("transaction", "server_reset_query_always = 1"),
                ("transaction", "server_round_robin = 1"), ("statement", ""),
            ]
            for (place, (mode, settings)) in sharing.enumerated() {
                let bouncer = try await PgBouncer.start(
                    mode, before: database, in: "\(folder.path)/\(place)", settings: settings)
                try await Self.expectRefusal(of: bouncer)
                await bouncer.stop()
            }
        }
    }

    private static func expectRefusal(of bouncer: PgBouncer) async throws {
        // Other clients use PgBouncer, too. So PgBouncer has more than one session of the database, and can give a
        // client another session each time.
        let other = PostgresPool(configuration: .init(connectionString: bouncer.url), logger: Stage.logger)
        _ = try await concurrently(4) { _ in _ = try? await other.query("select pg_sleep(0.2)") }
        await other.close()
        let source = Configuration.DatabaseSource.url(bouncer.url)
        let refusal = await #expect(throws: ExitError.self) {
            try await DatabaseSession.connect(source, logger: Stage.logger).prepared().close()
        }
        #expect(refusal?.description.contains("pool_mode = session") == true, "\(refusal?.description ?? "")")
        let session = try await DatabaseSession.connect(source, logger: Stage.logger)
        await #expect(throws: ExitError.self) { try await session.migrate() }
        await session.close()
    }
}
