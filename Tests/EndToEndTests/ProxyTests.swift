internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// The server behind a HAProxy that ends TLS, with the configuration of `docker/`.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: HAProxy.program != nil, "there is no haproxy here: run scripts/setup"))
struct ProxyTests {
    @Test func `behind a TLS proxy the console's cookie is secure, and forms from other origins are refused`()
        async throws
    {
        try await Stage.with(settings: ["GRANDSTAND_TRUSTED_PROXIES": "127.0.0.1"]) { stage in
            let proxy = try await HAProxy.start(before: stage.url)
            let key = "key=\(try #require(stage.api.secret))"
            let signedIn = try await proxy.post("/console/sign-in", key, ["Origin: https://console.example.com"])
            #expect(signedIn.hasPrefix("HTTP/1.1 303"))
            let cookie = signedIn.lowercased().split(separator: "\r\n").first { $0.hasPrefix("set-cookie: ") }
            #expect(cookie?.contains("; secure") == true)
            for origin in ["http://console.example.com", "https://other.example.com"] {
                let foreign = try await proxy.post("/console/sign-in", key, ["Origin: \(origin)"])
                #expect(foreign.hasPrefix("HTTP/1.1 403"), "\(origin)")
            }
            // The proxy replaces the `X-Forwarded-Host` that a caller sends.
            let forged = try await proxy.post(
                "/console/sign-in", key,
                ["Origin: https://other.example.com", "X-Forwarded-Host: other.example.com"])
            #expect(forged.hasPrefix("HTTP/1.1 403"))
            await proxy.stop()
        }
    }

    @Test func `wrong keys count for the trusted proxy's client address, not for one that a client claims`()
        async throws
    {
        let settings = ["GRANDSTAND_TRUSTED_PROXIES": "127.0.0.1", "GRANDSTAND_AUTH_FAILURE_LIMIT": "2"]
        try await Stage.with(settings: settings) { stage in
            func status(from address: String) async throws -> Int {
                let caller = HTTPCaller(url: stage.url, secret: "gs_guess")
                return try await caller("GET", "/v1/apps", headers: ["X-Forwarded-For": address]).status
            }
            var first: [Int] = []
            for _ in 0..<3 { first.append(try await status(from: "198.51.100.7")) }
            #expect(first == [401, 401, 429])
            let valid = try await stage.api("GET", "/v1/apps", headers: ["X-Forwarded-For": "198.51.100.7"])
            #expect(valid.status == 200)
            #expect(try await status(from: "198.51.100.8") == 401)
            // The proxy appends the address of its client. The addresses before that one come from the client itself,
            // so they do not count.
            #expect(try await status(from: "203.0.113.1, 198.51.100.7") == 429)
        }
    }
}

/// A HAProxy with TLS before one server.
private final class HAProxy: Sendable {
    static let program = ["/usr/sbin/haproxy", "/opt/homebrew/bin/haproxy", "/usr/local/sbin/haproxy"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let process: ChildProcess
    private let socket: String
    private let folder: TemporaryFolder

    static func start(before url: String) async throws -> HAProxy {
        let folder = try TemporaryFolder()
        let certificate = folder.path + "/proxy.pem"
        try await run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2",
            "-subj", "/CN=console.example.com", "-keyout", folder.path + "/key.pem", "-out", folder.path + "/cert.pem",
        ])
        let parts = try ["cert.pem", "key.pem"].map {
            try String(contentsOfFile: folder.path + "/" + $0, encoding: .utf8)
        }
        try parts.joined().write(toFile: certificate, atomically: true, encoding: .utf8)
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        // A socket has no port that another test could take.
        let socket = folder.path + "/proxy.sock"
        let text = try String(contentsOf: root.appending(path: "docker/haproxy.cfg"), encoding: .utf8)
            .replacingOccurrences(of: #"bind "${GRANDSTAND_BIND}""#, with: "bind unix@\(socket) ssl crt \(certificate)")
        try text.write(toFile: folder.path + "/haproxy.cfg", atomically: true, encoding: .utf8)
        let address = url.replacingOccurrences(of: "http://", with: "")
        let variables = ["ONE", "TWO", "THREE", "FOUR"].map { ("GRANDSTAND_" + $0, address) }
        let process = try ChildProcess(
            [program ?? "haproxy", "-db", "-f", folder.path + "/haproxy.cfg"],
            Dictionary(uniqueKeysWithValues: variables),
            log: folder.path + "/haproxy.log")
        let proxy = HAProxy(process, socket, folder)
        _ = try await until("HAProxy passes requests on (\(folder.path)/haproxy.log)") {
            try? await proxy.exchange("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                .hasPrefix("HTTP/1.1 200") ? true : nil
        }
        return proxy
    }

    private init(_ process: ChildProcess, _ socket: String, _ folder: TemporaryFolder) {
        self.process = process
        self.socket = socket
        self.folder = folder
    }

    func stop() async { await process.kill() }

    /// Sends a form over TLS, like a browser that does not send `Sec-Fetch-Site`.
    func post(_ path: String, _ form: String, _ headers: [String]) async throws -> String {
        let fields = [
            "POST \(path) HTTP/1.1", "Host: console.example.com", "Connection: close",
            "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(form.utf8.count)",
        ]
        return try await exchange((fields + headers).joined(separator: "\r\n") + "\r\n\r\n" + form)
    }

    private func exchange(_ request: String) async throws -> String {
        try await Self.run(["openssl", "s_client", "-quiet", "-ign_eof", "-unix", socket], input: request)
    }

    @discardableResult private static func run(_ command: [String], input: String = "") async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let process = Process()
                        let (stdin, stdout) = (Pipe(), Pipe())
                        process.executableURL = URL(filePath: "/usr/bin/env")
                        process.arguments = command
                        process.standardInput = stdin
                        process.standardOutput = stdout
                        process.standardError = FileHandle.nullDevice
                        try process.run()
                        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
                        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
                        process.waitUntilExit()
                        return String(decoding: output, as: UTF8.self)
                    })
            }
        }
    }
}
