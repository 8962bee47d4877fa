internal import Foundation
internal import GrandstandTestKit
internal import Testing

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
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        try String(contentsOf: root.appending(path: "docker/haproxy.cfg"), encoding: .utf8)
            .replacingOccurrences(
                of: #"bind "${GRANDSTAND_BIND}""#, with: "bind unix@\(socket) ssl crt \(folder.path)/proxy.pem"
            )
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        let settings = ["GRANDSTAND_TRUSTED_PROXIES": "127.0.0.1", "GRANDSTAND_AUTH_FAILURE_LIMIT": "2"]
        try await Stage.with(settings: settings) { stage in
            let address = stage.url.replacingOccurrences(of: "http://", with: "")
            let process = try ChildProcess(
                [Self.haproxy ?? "haproxy", "-db", "-f", configuration],
                ["GRANDSTAND_ONE": address, "GRANDSTAND_TWO": address], log: folder.path + "/haproxy.log")
            // Sends a request over TLS, like a browser that does not send `Sec-Fetch-Site`.
            func ask(_ line: String, _ headers: [String] = [], _ body: String = "") async throws -> String {
                let fields =
                    [
                        "\(line) HTTP/1.1", "Host: console.example.com", "Connection: close",
                        "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
                    ] + headers
                return try await Self.shell(
                    #"printf %s "$1" | openssl s_client -quiet -ign_eof -unix "$2" 2>/dev/null"#,
                    fields.joined(separator: "\r\n") + "\r\n\r\n" + body, socket)
            }
            _ = try await until("HAProxy passes requests on (\(folder.path)/haproxy.log)") {
                try await ask("GET /healthz").hasPrefix("HTTP/1.1 200") ? true : nil
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
            // The proxy appends the address of its client. The addresses before that one come from the client itself,
            // so they do not count.
            #expect(try await status(from: "203.0.113.1, 198.51.100.7") == 429)
        }
    }
}
