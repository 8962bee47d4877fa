internal import FoundationEssentials
internal import Grandstand
internal import Logging

/// Deletes rows that are older than their retention, one rule after the other and in small steps, so that no other
/// transaction has to wait.
struct Janitor: Sendable {
    let rules: [RetentionRule]
    /// The time between two steps of a rule.
    var pause = Duration.milliseconds(100)
    /// Makes one step of a rule, and returns how many rows it removed.
    let prune: @Sendable (_ rule: RetentionRule, _ cutoff: Date, _ limit: Int) async throws -> Int
    let now: @Sendable () -> Date
    let logger: Logger

    /// Deletes all rows that are old enough now. A rule that fails is tried again in the next round.
    ///
    /// - Returns: whether no rule failed.
    @discardableResult
    func round() async -> Bool {
        var isDone = true
        for rule in rules {
            var total = 0
            do {
                while !Task.isCancelled {
                    let count = try await prune(rule, now().addingTimeInterval(-rule.keep), rule.step)
                    total += count
                    guard count >= rule.step else { break }
                    try await Task.sleep(for: pause)
                }
            } catch {
                isDone = false
                logger.failed(
                    "history could not be deleted; trying again", error, at: .warning, ["rows": "\(rule.rows)"])
            }
            if total > 0 { logger.info("history deleted", metadata: [rule.rows: "\(total)"]) }
        }
        return isDone
    }
}
