internal import Grandstand

/// Repeats `body` while the database is away or another transaction has locked its rows. So an answer from an external
/// service is not lost.
///
/// - Parameter isOver: whether to repeat no more; then the error of `body` is thrown.
func insisting<Value: Sendable>(
    until isOver: () -> Bool = { Task.isCancelled }, _ body: () async throws -> Value
) async throws -> Value {
    var pause = Duration.milliseconds(50)
    while true {
        do {
            return try await body()
        } catch let problem as Problem where problem.kind == .storeUnavailable && !isOver() {
            try? await Task.sleep(for: problem == .contention ? .milliseconds(20) : pause)
            pause = min(pause * 2, .seconds(1))
        }
    }
}
