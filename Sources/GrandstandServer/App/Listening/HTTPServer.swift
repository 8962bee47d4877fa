internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Postgres
internal import ServiceLifecycle

/// One listener of the API, as a service of the server.
struct HTTPServer<Responder: HTTPResponder>: Service where Responder.Context == APIContext {
    let configuration: Configuration
    let port: Int
    let responder: Responder
    /// Answers lookups before routing; `nil`: this listener has no lookups.
    let lookups: LookupResponder?
    /// Chooses the connections to close when there are too many, or too many unread answers; `nil`: none is closed.
    let shares: ConnectionShares?
    /// `nil`: plain HTTP.
    let certificates: TLSCertificates?
    let logger: Logger
    /// Called with the port as soon as requests are accepted.
    let onListening: @Sendable (Int) async -> Void

    func run() async throws {
        var logger = logger
        // Hummingbird logs at info what this service logs itself.
        if logger.logLevel == .info { logger.logLevel = .notice }
        let application = Application(
            responder: PatientResponder(base: responder, wait: configuration.databaseWait), server: server,
            configuration: .init(
                address: .hostname(configuration.host, port: port), backlog: 1_024,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    configuration.maximumConnections, logger: logger)),
            onServerRunning: { [onListening] channel in await onListening(channel.localAddress?.port ?? 0) },
            logger: logger)
        let watching = certificates.map { certificates in Task { await certificates.watch() } }
        defer { watching?.cancel() }
        try await application.run()
    }

    private var server: HTTPServerBuilder {
        let limits = ConnectionDeadlines.Limits(configuration.clientTimeout)
        return HTTPServerBuilder { [certificates, lookups, shares] responder in
            let base = HTTP1Channel(
                responder: responder,
                configuration: .init(
                    idleTimeout: nil,
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16 * 1_024, maxHeaderListSize: 32 * 1_024, maxHeaderFieldCount: 100)))
            return GuardedChannel(
                base: base, limits: limits, certificates: certificates, shares: shares, lookups: lookups)
        }
    }
}

/// Limits how long each request waits for the database.
private struct PatientResponder<Base: HTTPResponder>: HTTPResponder where Base.Context == APIContext {
    let base: Base
    let wait: Duration

    func respond(to request: Request, context: APIContext) async throws -> Response {
        try await PostgresTimeLimit.$current.withValue(.request(wait)) {
            try await base.respond(to: request, context: context)
        }
    }
}

extension ConnectionDeadlines.Limits {
    /// A header may take `timeout`, a body and a write three times as long, and a pause between requests six times.
    /// When the server stops, a peer has at most a second for its remaining steps.
    init(_ timeout: Duration) {
        let header = timeout.components.seconds * 1_000_000_000 + timeout.components.attoseconds / 1_000_000_000
        self.init(
            header: header, body: 3 * header, idle: 6 * header, write: 3 * header, leave: min(header, 1_000_000_000))
    }
}

/// Checks addresses to listen on.
enum ListeningAddress {
    /// Checks whether a server can listen on the address, before anything is opened.
    ///
    /// - Throws: `StartError` with host and port.
    static func probe(_ host: String, _ port: Int, variable: String) async throws(StartError) {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try await channel.close()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw StartError(
                "\(variable): port \(port) on \(host) is in use; stop the program that listens there, or choose "
                    + "another port; 0 picks a free one")
        } catch {
            throw StartError("GRANDSTAND_HOST: cannot listen on \(host):\(port): \(error)")
        }
    }
}
