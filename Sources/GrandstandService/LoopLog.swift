internal import Logging

extension Logger {
    /// Says that a round of a loop failed, where the loop goes on. A round that was cut off by a stop is no failure,
    /// whatever words the query that was under way has for it: this is the one place that decides so.
    func failed(
        _ what: Logger.Message, _ error: any Error, at level: Logger.Level = .error, _ metadata: Logger.Metadata = [:]
    ) {
        let metadata = metadata.merging(["error": "\(error)"]) { given, _ in given }
        guard !Task.isCancelled else { return debug("cut off by a stop", metadata: metadata) }
        log(level: level, what, metadata: metadata)
    }
}
