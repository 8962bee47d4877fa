internal import Cryptography
internal import Foundation
internal import Logging

@testable import HTTP2

/// The configuration of a test's client: 127.0.0.1, with trust in the test authority.
func configuration(_ port: Int, host: String = "127.0.0.1") -> HTTP2ClientConfiguration {
    var configuration = HTTP2ClientConfiguration(host: host, port: port)
    configuration.trustRoots = .file(TestAuthority.shared.file)
    configuration.connectTimeout = .seconds(120)
    return configuration
}

/// Runs `body` with a new connection to `port`, and closes it in any case.
func withConnection<Result: Sendable>(
    _ port: Int, _ configure: (inout HTTP2ClientConfiguration) -> Void = { _ in },
    _ body: (HTTP2ClientConnection) async throws -> Result
) async throws -> Result {
    var settings = configuration(port)
    settings.drainTimeout = .milliseconds(100)
    configure(&settings)
    let connection = try await HTTP2ClientConnection.connect(settings, logger: quiet)
    return try await ending(with: { await connection.close() }) { try await body(connection) }
}

private func ending<Value: Sendable>(
    with end: () async -> Void, _ body: () async throws -> Value
) async throws -> Value {
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    await end()
    return try result.get()
}

/// Runs `body` with a connection to a new server. The test answers what the handler does not answer.
func withClient(
    _ handler: TestHandler = TestHandler(), configure: (inout HTTP2ServerConfiguration) -> Void = { _ in },
    client: (inout HTTP2ClientConfiguration) -> Void = { _ in },
    _ body: (HTTP2ClientConnection, TestHandler) async throws -> Void
) async throws {
    try await withServer(handler, configure) { server in
        try await withConnection(server.port, client) { try await body($0, handler) }
    }
}

func post(_ path: String = "/", headers: [HTTP2Header] = [], body: [UInt8] = Array("hello".utf8)) -> HTTP2Request {
    HTTP2Request(method: "POST", path: path, authority: "localhost", headers: headers, body: body)
}

extension HTTP2ClientConnection {
    /// The outcome of a request as a value.
    func outcome(_ request: HTTP2Request, timeout: Duration = .seconds(99)) async -> Result<HTTP2Response, HTTP2Failure>
    {
        do throws(HTTP2Failure) {
            return .success(try await send(request, timeout: timeout))
        } catch {
            return .failure(error)
        }
    }

    /// The outcomes of so many requests at once, with the paths `/0`, `/1` and so on.
    func outcomes(
        _ count: Int, timeout: @escaping @Sendable (Int) -> Duration = { _ in .seconds(99) }
    ) async -> [Result<HTTP2Response, HTTP2Failure>] {
        await withTaskGroup(of: (Int, Result<HTTP2Response, HTTP2Failure>).self) { group in
            for number in 0..<count {
                group.addTask { (number, await self.outcome(post("/\(number)"), timeout: timeout(number))) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}

extension Result where Success == HTTP2Response, Failure == HTTP2Failure {
    var status: Int? { (try? get())?.status }

    var isNotProcessed: Bool {
        if case .failure(.notProcessed) = self { true } else { false }
    }

    var isUnanswered: Bool {
        if case .failure(.unanswered) = self { true } else { false }
    }
}

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Runs `body` with a server, and stops it in any case.
func withServer<Result: Sendable>(
    _ handler: TestHandler, identity: TestAuthority.Identity = TestAuthority.shared.local,
    _ configure: (inout HTTP2ServerConfiguration) -> Void = { _ in },
    _ body: (HTTP2Server) async throws -> Result
) async throws -> Result {
    var configuration = HTTP2ServerConfiguration(host: "127.0.0.1", port: 0, tls: try identity.server())
    (configuration.drainTimeout, configuration.handshakeTimeout) = (.milliseconds(100), .seconds(120))
    configure(&configuration)
    let server = try await HTTP2Server.start(configuration, handler: handler, logger: quiet)
    return try await ending(with: { await server.stop() }) { try await body(server) }
}

/// A server with the test's behaviour. Requests that the closures do not handle can be awaited.
final class TestHandler: HTTP2ServerHandler {
    typealias Exchange = (request: HTTP2Request, bodyIsCut: Bool, stream: HTTP2ServerStream)

    private let onRequest: @Sendable (HTTP2Request, HTTP2ServerStream) -> Bool
    private let held: AsyncStream<Exchange>.Continuation
    /// The requests that the closure `answering` did not handle, in order.
    let requests: AsyncStream<Exchange>

    /// - Parameter answering: returns whether it handled the request. The test can await the other requests with
    ///   `requests`.
    init(answering: @escaping @Sendable (HTTP2Request, HTTP2ServerStream) -> Bool = { _, _ in false }) {
        onRequest = answering
        (requests, held) = AsyncStream.makeStream()
    }

    func opened(_ connection: HTTP2ServerConnection) {}

    func received(_ request: HTTP2Request, bodyIsCut: Bool, on stream: HTTP2ServerStream) {
        if !onRequest(request, stream) { held.yield((request, bodyIsCut, stream)) }
    }

    func closed(_ connection: HTTP2ServerConnection) {}

    /// A server with this answer to every request.
    static func answering(_ answer: @escaping @Sendable (HTTP2Request, HTTP2ServerStream) -> Void) -> TestHandler {
        TestHandler(answering: { request, stream in
            answer(request, stream)
            return true
        })
    }

    /// Answers every request at once with 200 and its own body.
    static var echo: TestHandler {
        TestHandler.answering { request, stream in
            stream.respond(status: 200, headers: [HTTP2Header("x-path", request.path)], body: request.body)
        }
    }

    struct OutOfTime: Error {}

    /// The next `count` unhandled requests. Throws when the test's time is over.
    func take(_ count: Int) async throws -> [Exchange] {
        var taken: [Exchange] = []
        for await exchange in requests {
            taken.append(exchange)
            if taken.count == count { return taken }
        }
        throw OutOfTime()
    }
}

/// A certificate authority for this test run, and the certificates it signs.
struct TestAuthority: Sendable {
    /// The authority that most tests trust.
    static let shared = TestAuthority()

    /// A server's certificate and key.
    struct Identity: Sendable {
        var certificate: Certificate
        var privateKey: PrivateKey

        /// TLS of a server with this certificate.
        func server(protocols: [String] = ["h2"], asksForCertificate: Bool = false) throws -> TLSContext {
            try .server(
                chain: [certificate], key: privateKey, protocols: protocols, asksForCertificate: asksForCertificate)
        }
    }

    /// The PEM file that a client trusts.
    let file: String
    let certificate: Certificate
    /// A certificate for `localhost` and 127.0.0.1.
    let local: Identity
    /// A certificate for `elsewhere.example` only.
    let elsewhere: Identity
    /// Like `local`, but expired.
    let expired: Identity

    init() {
        do {
            let key = try PrivateKey.p256()
            let root = try Certificate(
                "test authority", key: key, from: .now - 3_600, until: .now + 86_400,
                extensions: ["basicConstraints": "critical,CA:TRUE"])
            let url = FileManager.default.temporaryDirectory.appending(path: "http2-tests-\(UUID().uuidString).pem")
            try Data(root.pem.utf8).write(to: url)
            file = url.path
            certificate = root
            let here = "DNS:localhost,IP:127.0.0.1"
            local = try Self.identity(here, issuer: (root, key))
            expired = try Self.identity(here, issuer: (root, key), until: .now - 60)
            elsewhere = try Self.identity("DNS:elsewhere.example", issuer: (root, key))
        } catch {
            preconditionFailure("no certificates for the tests: \(error)")
        }
    }

    private static func identity(
        _ names: String, issuer: (certificate: Certificate, key: PrivateKey), until: Date = .now + 86_400
    ) throws -> Identity {
        let key = try PrivateKey.p256()
        let leaf = try Certificate(
            "test server", key: key, issuer: issuer, from: .now - 3_600, until: until,
            extensions: ["subjectAltName": names])
        return Identity(certificate: leaf, privateKey: key)
    }
}
