package import FoundationEssentials
internal import Grandstand
package import Logging
internal import ServiceLifecycle
internal import Synchronization
package import UnixSignals

/// A server that is built but not running yet. `serve`, the demo and the end-to-end tests use it.
package struct Server: Sendable {
    private let configuration: Configuration
    private let resources: ServerResources
    private let parts: ServerParts
    private let loops: ServerLoops
    private let logger: Logger

    /// Opens the database and builds all parts. Errors of the configuration show here, before the server listens.
    ///
    /// - Parameter wallClock: this machine's clock, for times that other systems such as APNs compare with their
    ///   clocks. For times that replicas share, the server uses the database's clock.
    /// - Throws: `ConfigurationError`, `StartError`; each is one line.
    package static func build(
        _ configuration: Configuration, wallClock: @escaping @Sendable () -> Date = { Date() }, logger: Logger
    ) async throws -> Server {
        let resources = try await ServerResources.open(configuration, wallClock: wallClock, logger: logger)
        return Server(configuration, resources, logger: logger)
    }

    private init(_ configuration: Configuration, _ resources: ServerResources, logger: Logger) {
        self.configuration = configuration
        self.resources = resources
        parts = ServerParts(configuration, resources, logger: logger)
        loops = ServerLoops(configuration, resources, parts, logger: logger)
        self.logger = logger
    }

    /// The key ledger, for commands and tests that create the first key.
    package var keys: KeyStore { parts.stores.keys.store }

    /// The database's connection string, for a second server on the same database.
    package var databaseURL: String { resources.database.url }

    /// The time within which a stop must end. A stop that takes longer waits for work that cannot be cancelled. `nil`:
    /// the time depends on the embedded PostgreSQL.
    package var longestStop: Duration? {
        if case .url = configuration.database { configuration.drain + Drain.margin + .seconds(2) } else { nil }
    }

    /// Runs until one of `stopSignals` arrives or the task is cancelled. Then it accepts no new requests, and requests
    /// in flight may finish within the drain. Unfinished work stays in the outbox, and the database is closed last.
    /// Nothing waits for the database or a client longer than until `Drain.margin` after the end of the drain.
    ///
    /// Only the loops of the configured roles run.
    ///
    /// - Parameters:
    ///   - onListening: called with the port as soon as requests are accepted; never without the role `api`.
    ///   - onStop: called when a stop begins.
    package func run(
        stoppingOn stopSignals: [UnixSignal] = [], onListening: @escaping @Sendable (Int) async -> Void = { _ in },
        onStop: @escaping @Sendable () -> Void = {}
    ) async throws {
        let roles = configuration.roles
        logger.info("roles", metadata: ["roles": "\(roles.map(\.rawValue).sorted().joined(separator: ","))"])
        // Services stop in reverse order: the operations port, the listener, the dispatchers, the rest.
        var members = loops.members
        let http = DrainedService(base: listener(onListening), drain: resources.drain)
        members.append(.init(.api, http, "http"))
        if let port = configuration.operationsPort {
            members.append(.init(nil, operationsListener(port), "operations"))
        }
        let drain = resources.drain
        let closing = Mutex<Task<Void, any Error>?>(nil)
        let beginning = StopBeginning {
            onStop()
            drain.begin()
            closing.withLock {
                $0 = Task {
                    try await drain.waitBeyond()
                    await resources.database.closePools()
                }
            }
        }
        members.append(.init(nil, beginning, "stop"))
        var settings = ServiceGroupConfiguration(
            services: members.filter { $0.role.map(roles.contains) ?? true }
                .map { .init(service: $0.service, serviceName: $0.name) },
            gracefulShutdownSignals: stopSignals, logger: Self.quiet(logger))
        settings.maximumGracefulShutdownDuration = configuration.drain + Drain.margin
        let group = ServiceGroup(configuration: settings)
        // Cancelling the group would cut requests off, so every stop is a graceful one.
        let running = Task { try await group.run() }
        let result = await withTaskCancellationHandler {
            await running.result
        } onCancel: {
            Task { await group.triggerGracefulShutdown() }
        }
        closing.withLock { $0 }?.cancel()
        await close()
        do {
            try result.get()
        } catch is CancellationError where drain.hasBegun {
            logger.warning("the stop took longer than GRANDSTAND_DRAIN_SECONDS allows, so work under way was cancelled")
        }
    }

    private func listener(_ onListening: @escaping @Sendable (Int) async -> Void) -> some Service {
        HTTPServer(
            configuration: configuration, port: configuration.port, responder: parts.api.responder(),
            lookups: parts.api.lookupResponder(), shares: parts.shares, certificates: resources.certificates,
            logger: logger
        ) { [logger, configuration] port in
            logger.info(
                "listening",
                metadata: ["url": "\(configuration.tls == nil ? "http" : "https")://\(configuration.host):\(port)"])
            await onListening(port)
        }
    }

    private func operationsListener(_ port: Int) -> some Service {
        HTTPServer(
            configuration: configuration, port: port, responder: parts.api.operationsResponder(), lookups: nil,
            shares: nil, certificates: nil, logger: logger
        ) { [logger, configuration] port in
            logger.info("operations", metadata: ["url": "http://\(configuration.host):\(port)"])
        }
    }

    /// Closes what `build` opened, if the server is not run.
    package func close() async {
        await parts.apple.gateway.close()
        await resources.database.close()
    }

    /// The service group logs its steps at info; they are useful only for debugging.
    private static func quiet(_ logger: Logger) -> Logger {
        var logger = logger
        if logger.logLevel == .info { logger.logLevel = .notice }
        return logger
    }
}

/// The service that a stop reaches first.
private struct StopBeginning: Service {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func run() async {
        // `gracefulShutdown()` throws if this task is cancelled. The group cancels it if another service fails, and no
        // stop was requested in that case.
        guard (try? await gracefulShutdown()) != nil else { return }
        body()
    }
}

extension Duration {
    var seconds: TimeInterval {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
