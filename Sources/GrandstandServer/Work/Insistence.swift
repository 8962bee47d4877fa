internal import Grandstand

/// Another transaction has locked the rows that recording a result must change. The result is recorded a little later.
struct LockedByAnother: Error {}

/// Repeats `body` while the database is away or another transaction has locked its rows. So an answer from an external
/// service is not lost.
///
/// - Parameters:
///   - isOver: whether to repeat no more; then the error of `body` is thrown.
///   - onFailure: called each time that the database is away.
func insisting<Value: Sendable>(
    until isOver: () -> Bool = { Task.isCancelled }, onFailure: (Problem) -> Void, _ body: () async throws -> Value
) async throws -> Value {
    var pause = Duration.milliseconds(50)
    while true {
        do {
            return try await body()
        } catch is LockedByAnother where !isOver() {
            try? await Task.sleep(for: .milliseconds(20))
        } catch let problem as Problem where problem.kind == .storeUnavailable && !isOver() {
            onFailure(problem)
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(1))
        }
    }
}
