internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

/// Deletes rows that are older than their retention, one rule after the other and in small steps, so that no other
/// transaction has to wait.
struct Janitor: Service {
    let rules: [RetentionRule]
    /// The time between two steps of a rule.
    var pause = Duration.milliseconds(100)
    /// The time between two rounds.
    var interval = Duration.seconds(600)
    /// Seconds before the next round if a rule failed in the last round.
    var retry: TimeInterval = 5
    let now: @Sendable () -> Date
    let logger: Logger

    func run() async {
        let loop = WorkLoop<Never>(
            .init(pollInterval: interval), failure: "history could not be deleted", logger: logger, now: now
        ) {
            await round() ? .idle() : .idle(until: now().addingTimeInterval(retry))
        }
        await loop.run()
    }

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
        var total = 0
        while !Task.isCancelled {
            let count = try await rule.prune(now().addingTimeInterval(-rule.keep), rule.step)
            total += count
            guard count == rule.step else { break }
            try await Task.sleep(for: pause)
        }
        return total
    }
}
