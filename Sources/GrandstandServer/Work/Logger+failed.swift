internal import Logging

extension Logger {
    /// Logs a failure after which the work goes on; if a stop has cancelled the task, only as a debug line.
    func failed(
        _ what: Logger.Message, _ error: any Error, at level: Logger.Level = .error, _ metadata: Logger.Metadata = [:]
    ) {
        let all = metadata.merging(["error": "\(error)"]) { given, _ in given }
        log(level: Task.isCancelled ? .debug : level, what, metadata: all)
    }
}
