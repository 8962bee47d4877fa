internal import Logging
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// How loops log failures.
struct FailureLogTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private struct Recorder: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.all.withLock { $0.append("\(event.level) \(event.message) \(event.metadata?["error"] ?? "")") }
        }
    }

    private struct Cut: Error, CustomStringConvertible {
        var description: String { "the task was cancelled, and the query with it" }
    }

    @Test func `a failure is logged at its level, unless a stop caused it`() async throws {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Recorder(lines: lines) }
        logger.failed("rows could not be read", Cut())
        logger.failed("rows could not be read", Cut(), at: .warning)
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            logger.failed("rows could not be read", Cut())
        }.value
        #expect(
            lines.all.withLock { $0 } == [
                "error rows could not be read \(Cut())", "warning rows could not be read \(Cut())",
                "debug cut off by a stop \(Cut())",
            ])
    }
}
