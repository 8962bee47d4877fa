internal import Logging

extension Logger {
    /// Logs a failure after which the work goes on. If a stop has cancelled the task, only a debug line is logged.
    func failed(
        _ what: Logger.Message, _ error: any Error, at level: Logger.Level = .error, _ metadata: Logger.Metadata = [:]
    ) {
        let metadata = metadata.merging(["error": "\(error)"]) { given, _ in given }
        guard !Task.isCancelled else { return debug("cut off by a stop", metadata: metadata) }
        log(level: level, what, metadata: metadata)
    }
}
