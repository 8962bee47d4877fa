internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Maintains the APNs client while it runs: SIGHUP makes it read the key files again, and every few seconds it updates
/// the gauges.
struct GatewayCare: Service {
    let gateway: APNsClient
    let logger: Logger

    /// The time between two readings of connections, streams and token ages.
    private static let interval = Duration.seconds(5)

    func run() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await reload() }
                group.addTask { await record() }
            }
        }
    }

    private func reload() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) {
            gateway.reloadKeys()
            logger.notice("key files will be read again")
        }
    }

    private func record() async {
        while !Task.isCancelled {
            gateway.recordGauges()
            try? await Task.sleep(for: Self.interval)
        }
    }
}
