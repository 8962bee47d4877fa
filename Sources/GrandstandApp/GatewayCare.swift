internal import APNsClient
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// The upkeep of the client of APNs while it runs: SIGHUP makes it read the key files anew, and every few seconds the
/// numbers that stand are written down.
struct GatewayCare: Service {
    let gateway: APNsClient
    let logger: Logger

    /// Between two looks at connections, streams and token ages.
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
            logger.notice("key files will be read anew")
        }
    }

    private func record() async {
        while !Task.isCancelled {
            gateway.recordGauges()
            try? await Task.sleep(for: Self.interval)
        }
    }
}
