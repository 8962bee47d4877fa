internal import Logging
internal import ServiceLifecycle
internal import Synchronization
package import UnixSignals

extension Server {
    /// Runs until one of `stopSignals` arrives or the task is cancelled. Then it accepts no new requests, and requests
    /// in flight may finish within the drain. Unfinished work stays in the outbox, and the database is closed last.
    /// Nothing waits for the database or a client longer than until `Drain.margin` after the end of the drain.
    ///
    /// Only the loops of the configured roles run.
    ///
    /// - Parameter onStop: called when a stop begins.
    package func run(
        stoppingOn stopSignals: [UnixSignal] = [], onStop: @escaping @Sendable () -> Void = {}
    ) async throws {
        let roles = configuration.roles
        logger.info("roles: \(roles.map(\.rawValue).sorted().joined(separator: ", "))")
        if !configuration.unknown.isEmpty {
            logger.notice("variables that are no settings: \(configuration.unknown)")
        }
        defer { listening.finish() }
        var members = members
        let closing = Mutex<Task<Void, any Error>?>(nil)
        // The service that a stop reaches first.
        members.append(
            Member(role: nil, name: "stop") { [drain, database] in
                // `gracefulShutdown()` throws if this task is cancelled. The group cancels it if another service fails,
                // and no stop was requested in that case.
                guard (try? await gracefulShutdown()) != nil else { return }
                onStop()
                drain.begin()
                closing.withLock {
                    $0 = Task {
                        try await Task.sleep(until: drain.begin() + Drain.margin, clock: .continuous)
                        await database.closePools()
                    }
                }
            })
        var settings = ServiceGroupConfiguration(
            services: members.filter { $0.role.map(roles.contains) ?? true }
                .map { .init(service: $0, serviceName: $0.name) },
            gracefulShutdownSignals: stopSignals, logger: Self.quiet(logger))
        settings.maximumGracefulShutdownDuration = configuration.drainTime + Drain.margin
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
            logger.warning("work under way was cancelled: GRANDSTAND_DRAIN_SECONDS is over")
        }
    }

    /// A logger for a library that logs its steps at info, where they are useful only for debugging.
    static func quiet(_ logger: Logger) -> Logger {
        var logger = logger
        if logger.logLevel == .info { logger.logLevel = .notice }
        return logger
    }
}
