internal import APNsWire
internal import HTTP2

/// One port: one environment's requests, and APNs' manners towards a connection.
struct EnvironmentHandler: HTTP2ServerHandler {
    /// Streams of a connection that has not shown a token yet (apns-contract section 6).
    static let unprovenStreams = 1
    /// And once it has; about 1,000 were seen live.
    static let provenStreams = 1_000

    let environment: APNsEnvironment
    let exchange: Exchange

    func opened(_ connection: HTTP2ServerConnection) {}

    func closed(_ connection: HTTP2ServerConnection) {}

    func received(_ request: HTTP2ServerRequest, on stream: HTTP2ServerStream) {
        let request = SimulatorRequest(
            environment: environment, connection: stream.connection.id, method: request.method, path: request.path,
            headers: request.headers.map { .init($0.name, $0.value) }, body: request.body,
            bodyIsCut: request.bodyTooLarge)
        exchange.receive(request) { answer in
            if answer.tokenAccepted { Self.open(stream.connection) }
            stream.respond(
                status: answer.status, headers: answer.headers.map { HTTP2Header($0.name, $0.value, indexing: .never) },
                body: answer.body)
        }
    }

    /// Opens the connection to many streams, the first time it has shown a good token.
    private static func open(_ connection: HTTP2ServerConnection) {
        let isFirst = connection.withUserInfo { info in
            defer { info = Proven() }
            return !(info is Proven)
        }
        if isFirst { connection.setMaximumConcurrentStreams(provenStreams) }
    }

    /// Stands on a connection that has shown a good token.
    private struct Proven: Sendable {}
}
