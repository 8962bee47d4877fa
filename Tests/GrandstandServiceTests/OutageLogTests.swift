internal import Grandstand
internal import Logging
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// An outage is logged once when it begins and once when it ends.
struct OutageLogTests {
    @Test func `an outage gives one warning, however many attempts fail, and a notice when it is over`() {
        let lines = LogLines()
        let log = OutageLog("the thing could not be read", lines.logger)
        let error = Problem(.storeUnavailable, "gone")
        log.worked()
        for _ in 1...100 { log.failed(error) }
        log.worked()
        log.worked()
        log.failed(error)
        #expect(
            lines.all == [
                "warning the thing could not be read; trying again", "notice over: the thing could not be read",
                "warning the thing could not be read; trying again",
            ])
    }
}

/// The log entries at level info and above.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.lines.withLock { $0.append("\(event.level) \(event.message)") } }
    }
}
