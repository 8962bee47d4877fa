internal import Grandstand
internal import Logging
internal import Synchronization

/// Logs an outage of repeated work: a warning when it begins and a notice when it ends.
///
/// Logging every failure of a frequent loop would hide other messages. Logging nothing would hide the cause.
package final class OutageLog: Sendable {
    private let what: String
    private let logger: Logger
    /// The present outage: when it began, and whether the warning was logged.
    private let outage = Mutex<(since: ContinuousClock.Instant, isTold: Bool)?>(nil)

    /// - Parameter what: a sentence about the work that fails.
    init(_ what: String, _ logger: Logger) {
        (self.what, self.logger) = (what, logger)
    }

    /// Records a failure. A failure caused by a stop is ignored.
    package func failed(_ error: any Error) {
        guard !Task.isCancelled else { return }
        let begins = outage.withLock { outage in
            guard outage == nil else { return false }
            // `DatabaseWatch` logs the database's troubles once for all work. Of these troubles, only a slow statement
            // is logged here, because a slow statement concerns this work only.
            let trouble = (error as? Problem)?.trouble
            let isTold = trouble == nil || trouble == .slow
            outage = (.now, isTold)
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
            metadata: ["seconds": "\((ContinuousClock.now - past.since).components.seconds)"])
    }
}
