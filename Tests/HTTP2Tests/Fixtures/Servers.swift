internal import Logging

@testable import HTTP2

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Runs `body` with a server, and stops it in any case.
func withServer<Result: Sendable>(
    _ handler: TestHandler, identity: TestAuthority.Identity = TestAuthority.shared.local,
    _ configure: (inout HTTP2ServerConfiguration) -> Void = { _ in },
    _ body: (HTTP2Server) async throws -> Result
) async throws -> Result {
    var configuration = HTTP2ServerConfiguration(host: "127.0.0.1", port: 0, tls: try identity.server())
    configuration.drainTimeout = .milliseconds(100)
    configure(&configuration)
    let server = try await HTTP2Server.start(configuration, handler: handler, logger: quiet)
    do {
        let result = try await body(server)
        await server.stop()
        return result
    } catch {
        await server.stop()
        throw error
    }
}
