internal import Logging

/// Receives the notices (`raise notice`) of a pool's own transactions.
package struct PostgresNotices: Sendable {
    /// The `errcode` of the notices to receive. Others are only logged.
    package var sqlState: PostgresSQLState
    /// Called once for each transaction with such notices, with their messages in order. This happens after the
    /// transaction has ended and before its caller continues. Transactions that were rolled back, or whose end is
    /// unknown, are reported, too. The function must not block.
    package var hear: @Sendable ([String]) -> Void

    package init(sqlState: PostgresSQLState, hear: @escaping @Sendable ([String]) -> Void) {
        self.sqlState = sqlState
        self.hear = hear
    }
}

/// Collects the notices that have the `sqlState` of `hearer`, until their transaction has ended. All other notices of
/// the server are only logged. libpq calls `note` on the task that uses the connection.
final class NoticeBook {
    private let hearer: PostgresNotices?
    private let logger: Logger
    private var kept: [String] = []
    /// Whether the server has sent a warning since this was last set to `false`.
    var hasWarned = false

    init(_ hearer: PostgresNotices?, _ logger: Logger) {
        self.hearer = hearer
        self.logger = logger
    }

    func note(_ notice: PostgresError) {
        if notice.sqlState == .warning { hasWarned = true }
        if let hearer, notice.sqlState == hearer.sqlState {
            kept.append(notice.message)
        } else {
            logger.debug("notice from PostgreSQL", metadata: ["notice": "\(notice.message.trimmed)"])
        }
    }

    func handOut() {
        guard let hearer, !kept.isEmpty else { return }
        defer { kept = [] }
        hearer.hear(kept)
    }
}
