internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Postgres

/// Rows of one kind that are deleted: when they are old, and when their app was deleted.
struct RetentionRule: Sendable {
    /// An app that was deleted: its bundle ID, and its numbers in its environments.
    struct App: Sendable {
        let name: String
        let ids: [Int32]
    }

    /// The name of the rows in the log.
    let rows: String
    /// Seconds for which a row is kept after its end: its settlement, expiry, last report or last use.
    var keep: TimeInterval = .infinity
    /// How many rows one step deletes. The number is small, so that no other transaction waits long for the step.
    var step = 500
    /// Deletes up to `limit` rows that ended before `cutoff`, the oldest first, together with all rows that belong to
    /// them. Rows that are still needed stay. Returns how many of the `limit` rows were deleted. `nil`: rows are not
    /// deleted because of their age.
    var prune: (@Sendable (_ cutoff: Date, _ limit: Int) async throws -> Int)?
    /// Removes about `limit` rows of an app. Returns the number of removed rows; 0: no row is left.
    var ofApp: (@Sendable (_ connection: PostgresConnection, _ app: App, _ limit: Int) async throws -> Int)?
}

/// Deletes rows that are older than their retention, one rule after the other and in small steps, so that no other
/// transaction has to wait.
struct Janitor: Sendable {
    let rules: [RetentionRule]
    /// The time between two steps of a rule.
    var pause = Duration.milliseconds(100)
    let now: @Sendable () -> Date
    let logger: Logger

    /// Deletes all rows that are old enough now. A rule that fails is tried again in the next round.
    ///
    /// - Returns: whether no rule failed.
    @discardableResult
    func round() async -> Bool {
        var isDone = true
        for rule in rules {
            do {
                let total = try await apply(rule)
                if total > 0 { logger.info("history deleted", metadata: [rule.rows: "\(total)"]) }
            } catch {
                isDone = false
                logger.failed(
                    "history could not be deleted; trying again", error, at: .warning,
                    ["rows": "\(rule.rows)"])
            }
        }
        return isDone
    }

    private func apply(_ rule: RetentionRule) async throws -> Int {
        guard let prune = rule.prune else { return 0 }
        var total = 0
        while !Task.isCancelled {
            let count = try await prune(now().addingTimeInterval(-rule.keep), rule.step)
            total += count
            guard count == rule.step else { break }
            try await Task.sleep(for: pause)
        }
        return total
    }
}
