internal import Grandstand
package import Logging
internal import Synchronization

/// Logs an outage of something that is tried again and again: a warning when it begins, a notice when it is over.
///
/// A loop that tries twice a second and logs each time buries everything else of the minutes that matter; one that logs
/// nothing leaves people with the effects.
package final class OutageLog: OutageReporter {
    private struct Outage {
        let since = ContinuousClock.now
        var failures = 1
    }

    private let what: String
    private let logger: Logger
    private let outage = Mutex<Outage?>(nil)

    /// - Parameter what: a sentence about the work that fails.
    package init(_ what: String, _ logger: Logger) {
        self.what = what
        self.logger = logger
    }

    /// A failure that a stop has brought about is none.
    package func failed(_ error: any Error) {
        guard !Task.isCancelled else { return }
        let begins = outage.withLock { outage in
            guard outage == nil else {
                outage?.failures += 1
                return false
            }
            outage = Outage()
            return true
        }
        logger.log(
            level: begins ? .warning : .debug, begins ? "\(what); trying again" : "\(what), still",
            metadata: ["error": "\(error)"])
    }

    package func worked() {
        let past = outage.withLock { outage in
            defer { outage = nil }
            return outage
        }
        guard let past else { return }
        logger.notice(
            "over: \(what)",
            metadata: [
                "failures": "\(past.failures)", "seconds": "\((ContinuousClock.now - past.since).components.seconds)",
            ])
    }
}

extension Logger {
    /// Logs a failure after which the work goes on. One that a stop has brought about is none, whatever words the query that
    /// was under way has for it.
    func failed(
        _ what: Logger.Message, _ error: any Error, at level: Logger.Level = .error, _ metadata: Logger.Metadata = [:]
    ) {
        let metadata = metadata.merging(["error": "\(error)"]) { given, _ in given }
        guard !Task.isCancelled else { return debug("cut off by a stop", metadata: metadata) }
        log(level: level, what, metadata: metadata)
    }
}
