internal import FoundationEssentials
internal import Grandstand
internal import Logging

/// Extends a lease three times in its length, until it is cancelled: so a lease may be short, and what a process that died
/// had in hand, or a claim had whose answer was lost, is taken up within seconds.
///
/// - Parameter extend: what it throws is logged as a warning.
func keepLease(
    of seconds: TimeInterval, _ logger: Logger, _ extend: @escaping @Sendable () async throws -> Void
) -> Task<Void, Never> {
    Task {
        while (try? await Task.sleep(for: .seconds(seconds / 3))) != nil {
            do {
                try await extend()
            } catch {
                logger.failed("a lease could not be extended", error, at: .warning)
            }
        }
    }
}

/// Does `body` until the database takes it or the task is cancelled: what somebody outside has answered is not lost
/// because the database is away.
///
/// - Throws: what `body` throws, but for a database that is away only when the task was cancelled.
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
