internal import APNsWire
internal import FoundationEssentials
internal import HTTP2
internal import JSON
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
    let logger: Logger
    private let announce: @Sendable (SimulatorAddresses) -> Void
    private let listeners = Mutex(Listeners())
    /// One lock for everything; a request holds it for a few microseconds.
    private let memory: Mutex<Memory>

    /// The most bytes that are read of one body. The stream of a longer body is reset; no normal client sends so much.
    private static let maximumBodyRead = 1 << 20
    /// The most connections of one environment at a time.
    private static let maximumConnections = 2_000
    /// The longest wait of a request to the control API, in seconds.
    static let longestWait = 600.0

    struct Memory: Sendable {
        var apns: SimulatorState
        var journal: Journal
        var faults: FaultBook
        var counters = Counters()
        /// The number of seconds by which the simulator's clock is ahead of `SimulatorOptions.now`.
        var clockOffset = 0.0
        /// The open connections.
        var connections: [Int: (connection: HTTP2ServerConnection, environment: APNsEnvironment)] = [:]
        /// The callers that wait for a request or a change of a lock screen.
        fileprivate var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        fileprivate var lastWatcherID = 0
        fileprivate var hasStopped = false

        /// Grows with each change that `watchers` wait for.
        fileprivate var version: Int { journal.lastNumber + apns.devices.version }
    }

    /// The listeners, and where they listen.
    private struct Listeners: Sendable {
        var apns: [HTTP2Server] = []
        var control: ControlServer?
        var addresses: SimulatorAddresses?

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
        var apns = SimulatorState(channelLimit: options.channelLimit, seed: options.seed)
        apns.quirks = options.quirks
        memory = Mutex(
            Memory(
                apns: apns, journal: Journal(capacity: options.journalCapacity), faults: FaultBook(seed: options.seed)))
    }

    // MARK: The state

    /// Reads or changes the state at the simulator's time (seconds since 1970, whole milliseconds), and wakes the
    /// callers that wait.
    @discardableResult
    func access<Result: Sendable, Failure: Error>(
        _ body: (inout Memory, Double) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, woken) = try memory.withLock { memory throws(Failure) in
            let version = memory.version
            let clock = options.now().timeIntervalSince1970
            let result = try body(&memory, ((clock + memory.clockOffset) * 1_000).rounded() / 1_000)
            return (result, memory.version == version ? [] : Array(memory.watchers.values))
        }
        for watcher in woken { watcher.yield() }
        return result
    }

    /// Looks at the state now and after each change, until `look` finds something.
    ///
    /// - Returns: `nil` if the time is over, the simulator stops, or the task is cancelled first.
    func wait<Found: Sendable>(
        within limit: Duration? = nil, _ look: (inout Memory, Double) -> Found?
    ) async -> Found? {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let id = access { memory, _ in
            memory.lastWatcherID += 1
            if memory.hasStopped { continuation.finish() } else { memory.watchers[memory.lastWatcherID] = continuation }
            return memory.lastWatcherID
        }
        defer { access { memory, _ in memory.watchers[id] = nil } }
        let timer = limit.map { limit in
            Task {
                try? await Task.sleep(for: limit)
                continuation.finish()
            }
        }
        defer { timer?.cancel() }
        for await _ in changes { if let found = access(look) { return found } }
        return nil
    }

    // MARK: Starting and stopping

    /// The addresses of the listeners; `nil` unless the simulator runs.
    package var addresses: SimulatorAddresses? { listeners.withLock { $0.addresses } }

    /// Stops listening and closes the connections. Withheld answers are never sent.
    package func stop() async {
        // Requests to the control API that wait are answered first, because its listener waits for them.
        let watchers = access { memory, _ in
            memory.hasStopped = true
            return memory.watchers.values.map { $0 }
        }
        for watcher in watchers { watcher.finish() }
        let servers = listeners.withLock { running in
            defer { running = Listeners() }
            return running
        }
        await servers.stop()
    }

    /// Serves until a graceful shutdown or a cancellation. Starts the simulator first, unless `start()` was called.
    package func run() async throws {
        let addresses = if let addresses { addresses } else { try await start() }
        announce(addresses)
        // Cancellation throws here and ends the simulator in the same way.
        try? await gracefulShutdown()
        await stop()
    }

    /// Reads or creates the folder's files, and listens on both ports.
    ///
    /// - Throws: an error in one line, with advice: the folder cannot be used, a file in it is broken, or a port is in
    ///   use. Then nothing listens.
    @discardableResult
    package func start() async throws -> SimulatorAddresses {
        try options.validate()
        let folder = try Folder(options.directory)
        let credentials = try Credentials(
            in: folder, teams: options.keyTeams, scopes: options.keyScopes, now: options.now())
        access { memory, _ in
            memory.apns.tokens = TokenJudge(keys: credentials.providerKeys)
            memory.faults = FaultBook(seed: options.seed)
        }
        if let path = options.faultFile {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw SimulatorError("\(path) cannot be read: name a file of faults with --faults.")
            }
            try addScript(JSONValue(Array(data), at: path).read(at: path))
        }
        var servers = Listeners()
        do {
            for environment in APNsEnvironment.allCases {
                let port = options.port == 0 ? 0 : options.port + servers.apns.count
                servers.apns.append(try await listen(environment, port: port, credentials))
            }
            if let port = options.controlPort {
                servers.control = try await ControlServer(host: options.controlHost, port: port) { [self] in
                    await answer($0)
                }
            }
        } catch {
            await servers.stop()
            throw error
        }
        let addresses = SimulatorAddresses(
            host: SimulatorAddresses.reachableHost(options.host), developmentPort: servers.apns[0].port,
            productionPort: servers.apns[1].port, caFile: folder.path(CertificateAuthority.certificateFile),
            p8File: folder.path(Credentials.providerKeyFile),
            controlURL: servers.control.map {
                SimulatorAddresses.url("http", SimulatorAddresses.reachableHost(options.controlHost), $0.port)
            })
        servers.addresses = addresses
        listeners.withLock { [servers] in $0 = servers }
        return addresses
    }

    private func listen(
        _ environment: APNsEnvironment, port: Int, _ credentials: Credentials
    ) async throws -> HTTP2Server {
        var configuration = HTTP2ServerConfiguration(
            host: options.host, port: port, tls: try credentials.tls(credentials.certificate))
        configuration.otherTLS = try credentials.tls(credentials.wrongCertificate)
        configuration.initialMaximumConcurrentStreams = ConnectionState.streamsBeforeToken
        // This limit is larger than every documented limit, so that APNs' rules refuse a request that is too large.
        configuration.maximumBodyKept = 4 * APNsLimits.broadcastPayload
        // If an answer is not sent yet when the simulator stops, a fault delays the answer, perhaps for ever. So a
        // long wait is useless.
        configuration.drainTimeout = .milliseconds(250)
        configuration.maximumBodyRead = Self.maximumBodyRead
        configuration.maximumConnections = Self.maximumConnections
        let handler = EnvironmentHandler(environment: environment, simulator: self)
        configuration.admission = { handler.admission(serverName: $0) }
        return try await HTTP2Server.start(configuration, handler: handler, logger: logger)
    }
}
