internal import APNsWire
internal import FoundationEssentials
internal import HTTP2
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// APNs for Live Activities as a program: HTTP/2 over TLS, one port per environment, with its state in memory.
///
/// Start it once with `start()` (tests, a demo), or let a service group `run()` it. It cannot be restarted after
/// `stop()`. Another simulator with the same folder has the same certificate authority and keys.
package final class Simulator: Service {
    /// The options of this simulator.
    package let options: SimulatorOptions
    let running = Mutex(Phase.idle)
    private let logger: Logger
    private let announce: @Sendable (SimulatorAddresses) -> Void
    let started = StartSignal()

    /// The most bytes that are read of one body. The stream of a longer body is reset; no normal client sends so much.
    static let maximumBodyRead = 1 << 20
    /// The most connections of one environment at a time.
    static let maximumConnections = 2_000

    enum Phase: Sendable {
        case idle
        case starting
        case running(SimulatorCore, Servers, SimulatorAddresses)
        /// Stopped; the journal is still readable.
        case stopped(SimulatorCore?)
    }

    /// The listeners.
    struct Servers: Sendable {
        var apns: [HTTP2Server] = []
        var control: ControlServer?

        func stop() async {
            await withTaskGroup(of: Void.self) { group in
                for server in apns { group.addTask { await server.stop() } }
                if let control { group.addTask { await control.stop() } }
            }
        }
    }

    /// - Parameter announce: called by `run()` as soon as requests are served.
    package init(
        options: SimulatorOptions, logger: Logger, announce: @escaping @Sendable (SimulatorAddresses) -> Void = { _ in }
    ) {
        self.options = options
        self.logger = logger
        self.announce = announce
    }

    /// Reads or creates the folder's files, and listens on both ports.
    ///
    /// - Throws: an error in one line, with advice: the folder cannot be used, a file in it is broken, or a port is in
    ///   use. Then nothing listens.
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

    /// Stops listening and closes the connections. Withheld answers are never sent.
    package func stop() async {
        let servers = running.withLock { phase -> Servers? in
            guard case .running(let core, let servers, _) = phase else {
                if case .idle = phase { phase = .stopped(nil) }
                return nil
            }
            phase = .stopped(core)
            return servers
        }
        await servers?.stop()
        started.fire()
        for waiter in look({ $0.journal.close() }) ?? [] { waiter.continuation.finish() }
        for watcher in look({ $0.watchers.close() }) ?? [] { watcher.finish() }
    }

    /// Serves until a graceful shutdown or a cancellation. Starts the simulator first, unless `start()` was called.
    package func run() async throws {
        let addresses = if let addresses { addresses } else { try await start() }
        announce(addresses)
        // Cancellation throws here and ends the simulator in the same way.
        try? await gracefulShutdown()
        await stop()
    }

    private func begin() throws(SimulatorError) {
        let isFirst = running.withLock { phase in
            guard case .idle = phase else { return false }
            phase = .starting
            return true
        }
        if !isFirst { throw SimulatorError("This simulator was started before: create another one.") }
    }

    private func listen() async throws -> SimulatorAddresses {
        try options.validate()
        let folder = try Folder(options.directory)
        let credentials = try Credentials(
            in: folder, teams: options.teams, scopes: options.keyScopes, now: options.now())
        let core = try prepare(credentials)

        var servers = Servers()
        do {
            let connections = Connections()
            for environment in APNsEnvironment.allCases {
                let port = options.port == 0 ? 0 : options.port + servers.apns.count
                servers.apns.append(try await serve(environment, port: port, credentials, core, connections))
            }
            if let port = options.controlPort {
                servers.control = try await ControlServer.start(
                    ControlRouter(core: core), host: options.controlHost, port: port)
            }
        } catch {
            await servers.stop()
            throw error
        }
        let addresses = SimulatorAddresses(
            host: SimulatorAddresses.reachable(options.host), developmentPort: servers.apns[0].port,
            productionPort: servers.apns[1].port, caFile: folder.path(CertificateAuthority.certificateFile),
            keyFile: folder.path(Credentials.providerKeyFile),
            controlURL: servers.control.map {
                SimulatorAddresses.url("http", SimulatorAddresses.reachable(options.controlHost), $0.port)
            })
        running.withLock { $0 = .running(core, servers, addresses) }
        started.fire()
        return addresses
    }

    /// The state before the first request.
    private func prepare(_ credentials: Credentials) throws(SimulatorError) -> SimulatorCore {
        var state = SimulatorState(
            keys: credentials.providerKeys, channelLimit: options.channelLimit, seed: options.seed)
        state.quirks = options.quirks
        let core = SimulatorCore(
            state, journalCapacity: options.journalCapacity, seed: options.seed, now: options.now, logger: logger)
        if let path = options.faultFile {
            let file = try FaultFile(path: path)
            let failure = core.change { memory, _ in memory.faults.add(file) }
            if let failure { throw failure }
        }
        return core
    }

    private func serve(
        _ environment: APNsEnvironment, port: Int, _ credentials: Credentials, _ core: SimulatorCore,
        _ connections: Connections
    ) async throws -> HTTP2Server {
        var configuration = HTTP2ServerConfiguration(
            host: options.host, port: port, tls: try credentials.tls(credentials.certificate))
        configuration.otherTLS = try credentials.tls(credentials.otherCertificate)
        configuration.initialMaximumConcurrentStreams = ConnectionState.unprovenStreams
        // This limit is larger than every documented limit, so that APNs' rules refuse a request that is too large.
        configuration.maximumRequestBody = 4 * APNsLimits.broadcastPayload
        // If an answer is not sent yet when the simulator stops, a fault delays the answer, perhaps for ever. So a
        // long wait is useless.
        configuration.drainTimeout = .milliseconds(250)
        configuration.maximumBodyRead = Self.maximumBodyRead
        configuration.maximumConnections = Self.maximumConnections
        let handler = EnvironmentHandler(environment: environment, core: core, connections: connections)
        configuration.admission = { handler.admission(serverName: $0) }
        return try await HTTP2Server.start(configuration, handler: handler, logger: logger)
    }
}
