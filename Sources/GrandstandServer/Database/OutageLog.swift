internal import Grandstand
internal import Logging
internal import Synchronization

/// Logs an outage of repeated work: a warning when it begins and a notice when it ends.
///
/// Logging every failure of a frequent loop would hide other messages. Logging nothing would hide the cause.
package final class OutageLog: Sendable {
    private struct Outage {
        let since = ContinuousClock.now
        /// Whether the warning was logged.
        var isTold: Bool
        var failures = 1
    }

    private let what: String
    private let logger: Logger
    private let outage = Mutex<Outage?>(nil)

    /// - Parameter what: a sentence about the work that fails.
    init(_ what: String, _ logger: Logger) {
        self.what = what
        self.logger = logger
    }

    /// Records a failure. A failure caused by a stop is ignored.
    package func failed(_ error: any Error) {
        guard !Task.isCancelled else { return }
        let begins = outage.withLock { outage in
            guard outage == nil else {
                outage?.failures += 1
                return false
            }
            // `DatabaseWatch` logs the database's troubles once for all work. Of these troubles, only a slow statement
            // is logged here, because a slow statement concerns this work only.
            let trouble = (error as? Problem)?.trouble
            let isTold = trouble == nil || trouble == .slow
            outage = Outage(isTold: isTold)
            return isTold
        }
        logger.log(
            level: begins ? .warning : .debug, begins ? "\(what); trying again" : "\(what), still",
            metadata: ["error": "\(error)"])
    }

    /// Records that the work was done.
    func worked() {
        let past = outage.withLock { outage in
            defer { outage = nil }
            return outage
        }
        guard let past else { return }
        logger.log(
            level: past.isTold ? .notice : .debug, "over: \(what)",
            metadata: [
                "failures": "\(past.failures)", "seconds": "\((ContinuousClock.now - past.since).components.seconds)",
            ])
    }
}
