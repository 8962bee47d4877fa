@testable import HTTP2

/// The configuration of a test's client: 127.0.0.1, with trust in the test authority.
func configuration(_ port: Int, host: String = "127.0.0.1") -> HTTP2ClientConfiguration {
    var configuration = HTTP2ClientConfiguration(host: host, port: port)
    configuration.trustRoots = .file(TestAuthority.shared.file)
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
    do {
        let result = try await body(connection)
        await connection.close()
        return result
    } catch {
        await connection.close()
        throw error
    }
}

/// Runs `body` with a connection to a new server with this handler.
func withClient(
    _ handler: TestHandler, _ configure: (inout HTTP2ServerConfiguration) -> Void = { _ in },
    client: (inout HTTP2ClientConfiguration) -> Void = { _ in }, _ body: (HTTP2ClientConnection) async throws -> Void
) async throws {
    try await withServer(handler, configure) { try await withConnection($0.port, client, body) }
}

/// Runs `body` with a connection to a new server, whose requests the test answers.
func withClient(
    _ configure: (inout HTTP2ServerConfiguration) -> Void = { _ in },
    client: (inout HTTP2ClientConfiguration) -> Void = { _ in },
    _ body: (HTTP2ClientConnection, TestHandler) async throws -> Void
) async throws {
    let handler = TestHandler()
    try await withClient(handler, configure, client: client) { try await body($0, handler) }
}

func post(_ path: String = "/", headers: [HTTP2Header] = [], body: [UInt8] = Array("hello".utf8)) -> HTTP2Request {
    HTTP2Request(method: "POST", path: path, authority: "localhost", headers: headers, body: body)
}

extension HTTP2ClientConnection {
    /// The outcome of a request as a value.
    func outcome(_ request: HTTP2Request, timeout: Duration = .seconds(20)) async -> Result<HTTP2Response, HTTP2Failure>
    {
        do throws(HTTP2Failure) {
            return .success(try await send(request, timeout: timeout))
        } catch {
            return .failure(error)
        }
    }

    /// The outcomes of so many requests at once, with the paths `/0`, `/1` and so on.
    func outcomes(
        _ count: Int, timeout: @escaping @Sendable (Int) -> Duration = { _ in .seconds(20) }
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
