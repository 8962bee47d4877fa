internal import APNsWire
internal import FoundationEssentials
internal import HTTP2
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// APNs' broadcast channels as a program: real HTTP/2 over TLS, a port per environment, state in memory.
///
/// Start it once with `start()` (tests, a demo), or let a service group `run()` it. After `stop()` it is done; another
/// one with the same folder has the same certificate authority and keys, and no channels.
package final class Simulator: Service {
    /// As it was made; they do not change.
    package let options: SimulatorOptions
    let running = Mutex(Phase.idle)
    private let logger: Logger
    private let announce: @Sendable (SimulatorAddresses) -> Void

    enum Phase: Sendable {
        case idle
        case starting
        case running(Exchange, [HTTP2Server], SimulatorAddresses)
        /// What it saw can still be looked at.
        case stopped(Exchange?)
    }

    /// - Parameter announce: called by `run()` once requests are served.
    package init(
        options: SimulatorOptions, logger: Logger, announce: @escaping @Sendable (SimulatorAddresses) -> Void = { _ in }
    ) {
        self.options = options
        self.logger = logger
        self.announce = announce
    }

    /// Reads or makes the folder's files and listens on both ports.
    ///
    /// - Throws: a line that says what to do: a folder that cannot be used, a broken file in it, a port in use. Nothing
    ///   listens then.
    @discardableResult
    package func start() async throws -> SimulatorAddresses {
        try begin()
        do {
            return try await listen()
        } catch {
            running.withLock { $0 = .idle }
            throw error
        }
    }

    /// Stops listening, closes the connections. Answers still withheld are never given.
    package func stop() async {
        let servers = running.withLock { phase -> [HTTP2Server] in
            guard case .running(let exchange, let servers, _) = phase else {
                if case .idle = phase { phase = .stopped(nil) }
                return []
            }
            phase = .stopped(exchange)
            return servers
        }
        await withTaskGroup(of: Void.self) { group in
            for server in servers { group.addTask { await server.stop() } }
        }
        for waiter in look({ $0.journal.close() }) ?? [] { waiter.continuation.finish() }
    }

    /// Serves until graceful shutdown or cancellation; starts first, unless `start()` was called before.
    package func run() async throws {
        let addresses = if let addresses { addresses } else { try await start() }
        announce(addresses)
        // Cancelled: the same end.
        try? await gracefulShutdown()
        await stop()
    }

    private func begin() throws(SimulatorError) {
        let isFirst = running.withLock { phase in
            guard case .idle = phase else { return false }
            phase = .starting
            return true
        }
        if !isFirst { throw SimulatorError("This simulator was started before: make another one.") }
    }

    private func listen() async throws -> SimulatorAddresses {
        try options.validate()
        let folder = try Folder(options.directory)
        let credentials = try Credentials(in: folder, teams: options.teams, now: options.now())
        let exchange = Exchange(
            SimulatorState(
                keys: credentials.providerKeys, capitals: options.capitals, channelLimit: options.channelLimit,
                seed: options.seed),
            journalCapacity: options.journalCapacity, now: options.now, logger: logger)

        let development = try await serve(.development, port: options.port, credentials, exchange)
        let production: HTTP2Server
        do {
            let port = options.port == 0 ? 0 : options.port + 1
            production = try await serve(.production, port: port, credentials, exchange)
        } catch {
            await development.stop()
            throw error
        }
        let addresses = SimulatorAddresses(
            host: SimulatorAddresses.reachable(options.host), developmentPort: development.port,
            productionPort: production.port, caFile: folder.path(CertificateAuthority.certificateFile),
            keyFile: folder.path(Credentials.providerKeyFile))
        running.withLock { $0 = .running(exchange, [development, production], addresses) }
        return addresses
    }

    private func serve(
        _ environment: APNsEnvironment, port: Int, _ credentials: Credentials, _ exchange: Exchange
    ) async throws -> HTTP2Server {
        var configuration = HTTP2ServerConfiguration(
            host: options.host, port: port, certificateChain: .bytes(Array(credentials.certificate.utf8)),
            privateKey: .bytes(Array(credentials.serverKey.utf8)))
        configuration.initialMaximumConcurrentStreams = EnvironmentHandler.unprovenStreams
        // Beyond every documented limit, so that what is too large is refused in APNs' words.
        configuration.maximumRequestBody = 4 * APNsLimits.broadcastPayload
        // Answers come at once, or are withheld by a test that has ended: nothing is worth a long wait.
        configuration.drainTimeout = .milliseconds(250)
        return try await HTTP2Server.start(
            configuration, handler: EnvironmentHandler(environment: environment, exchange: exchange), logger: logger)
    }
}
