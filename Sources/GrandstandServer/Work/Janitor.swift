internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

/// Deletes rows that are older than their retention, one rule after the other and in small steps, so that no other
/// transaction has to wait.
struct Janitor: Service {
    /// Deletes at most `limit` rows of one kind that ended before `before`, the oldest first. Returns the number of
    /// deleted rows.
    typealias Prune = @Sendable (RetentionRule.Rows, _ before: Date, _ limit: Int) async throws -> Int

    private let rules: [RetentionRule]
    private let prune: Prune
    private let pause: Duration
    private let interval: Duration
    private let retry: TimeInterval
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// - Parameters:
    ///   - pause: the time between two steps of a rule.
    ///   - interval: the time between two rounds.
    ///   - retry: seconds before the next round if a rule failed in the last round.
    init(
        rules: [RetentionRule], prune: @escaping Prune, pause: Duration = .milliseconds(100),
        interval: Duration = .seconds(600), retry: TimeInterval = 5, now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.rules = rules
        self.prune = prune
        self.pause = pause
        self.interval = interval
        self.retry = retry
        self.now = now
        self.logger = logger
    }

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
                if total > 0 { logger.info("history deleted", metadata: [rule.rows.rawValue: "\(total)"]) }
            } catch {
                isDone = false
                logger.failed(
                    "history could not be deleted; trying again", error, at: .warning,
                    ["rows": "\(rule.rows.rawValue)"])
            }
        }
        return isDone
    }

    private func apply(_ rule: RetentionRule) async throws -> Int {
        var total = 0
        while !Task.isCancelled {
            let count = try await prune(rule.rows, now().addingTimeInterval(-rule.keep), rule.step)
            total += count
            guard count == rule.step else { break }
            try await Task.sleep(for: pause)
        }
        return total
    }
}
