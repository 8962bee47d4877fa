internal import FoundationEssentials
internal import Grandstand
internal import Logging

/// Extends a lease three times in each lease time, until the task is cancelled. So leases can be short, and the work of
/// a dead process is taken over within seconds.
///
/// - Parameter extend: extends the lease once. The errors of `extend` are logged as warnings.
func keepLease(
    of seconds: TimeInterval, _ logger: Logger, _ extend: @escaping @Sendable () async throws -> Void
) -> Task<Void, Never> {
    Task {
        while (try? await Task.sleep(for: .seconds(seconds / 3))) != nil {
            do {
                try await extend()
            } catch {
                logger.failed(
                    "work in progress could not be kept reserved; another server may repeat it", error, at: .warning)
            }
        }
    }
}

/// Repeats `body` until the database has accepted its result or the task is cancelled. So an answer from an external
/// service is not lost while the database is away.
///
/// - Throws: errors of `body`. The error of a database that is away is thrown only after cancellation.
func insisting<Value: Sendable>(
    _ failure: Logger.Message, _ logger: Logger, _ body: () async throws -> Value
) async throws -> Value {
    var pause = Duration.milliseconds(50)
    var isTold = false
    while true {
        do {
            return try await body()
        } catch let problem as Problem where problem.kind == .storeUnavailable && !Task.isCancelled {
            if !isTold { logger.failed(failure, problem) }
            isTold = true
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(1))
        }
    }
}
