internal import APNsClient
package import FoundationEssentials
package import Grandstand
internal import GrandstandHTTP
internal import GrandstandService
package import Logging
internal import ServiceLifecycle
internal import Synchronization
package import UnixSignals

/// A server, built and not yet running: `serve`, the demo and the end-to-end tests all run this.
package struct Server: Sendable {
    private let configuration: Configuration
    private let resources: ServerResources
    private let parts: ServerParts
    private let loops: ServerLoops
    private let logger: Logger

    /// Opens the database and wires everything to it. What can fail fails here, before anything is listened on.
    ///
    /// - Parameter wallClock: this machine's clock. What replicas agree on goes by the database's; this one is for what
    ///   outsiders compare with theirs.
    /// - Throws: `ConfigurationError`, `StartError`: one line each.
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

    /// For commands and tests that need a key before there is one.
    package var keys: any KeyLedger { parts.stores.keys }

    /// The database's connection string, for another server beside this one.
    package var databaseURL: String { resources.database.url }

    /// How long a stop takes at most; more, and something that cannot be cancelled is waited for. `nil`: as long as the
    /// embedded PostgreSQL needs to stop.
    package var longestStop: Duration? {
        if case .url = configuration.database { configuration.drain + Drain.margin + .seconds(2) } else { nil }
    }

    /// Runs until `signals` ask for a stop or the task is cancelled: no new requests then, sends under way finish within
    /// the drain time, the rest stays in the outbox; the database is closed last. A little after the drain time nothing waits
    /// for the database or for a client any more.
    ///
    /// Only the loops of the configured roles run here.
    ///
    /// - Parameters:
    ///   - onListening: called with the port once requests are taken; never without the role `api` or `lookup`.
    ///   - onStop: called when a stop begins.
    package func run(
        stoppingOn stopSignals: [UnixSignal] = [], onListening: @escaping @Sendable (Int) async -> Void = { _ in },
        onStop: @escaping @Sendable () -> Void = {}
    ) async throws {
        let roles = configuration.roles
        logger.info("roles", metadata: ["roles": "\(roles.map(\.rawValue).sorted().joined(separator: ","))"])
        // Stopped from the last to the first: the operations port, live views, the listener, the dispatchers, the rest.
        // Live views end before the listener, which waits for its requests: streams are some.
        var members = loops.members
        let http = DrainedService(base: listener(onListening), drain: resources.drain)
        members.append(.init(anyOf: [.api, .lookup], http, "http"))
        members.append(.init(.api, parts.views, "live views"))
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
            services: members.filter { !($0.roles?.isDisjoint(with: roles) ?? false) }
                .map { .init(service: $0.service, serviceName: $0.name) },
            gracefulShutdownSignals: stopSignals, logger: Self.quiet(logger))
        settings.maximumGracefulShutdownDuration = configuration.drain + Drain.margin
        let group = ServiceGroup(configuration: settings)
        // Cancelling the group would cut requests off; a stop is always a graceful one.
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
            logger.warning("the stop was cut short at the end of its time: GRANDSTAND_DRAIN_SECONDS")
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

    /// Closes what `build` opened, for a server that is not run.
    package func close() async {
        await parts.apple.gateway.close()
        await resources.database.close()
    }

    /// The service group narrates its work at info; that is for debugging.
    private static func quiet(_ logger: Logger) -> Logger {
        var logger = logger
        if logger.logLevel == .info { logger.logLevel = .notice }
        return logger
    }
}

/// The first of the services that a stop reaches.
private struct StopBeginning: Service {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func run() async {
        // A service that failed cancels the others: no stop was asked for then.
        guard (try? await gracefulShutdown()) != nil else { return }
        body()
    }
}

extension Duration {
    /// The duration in seconds.
    var seconds: TimeInterval {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
