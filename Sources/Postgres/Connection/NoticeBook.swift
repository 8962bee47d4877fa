/// Collects what the server tells beside its answers (`raise notice`), until the transaction has ended. libpq calls `note`
/// on the task that uses the connection.
final class NoticeBook {
    private let hear: (@Sendable ([PostgresError]) -> Void)?
    private var kept: [PostgresError] = []
    /// Whether the server has sent a warning since this was last set to `false`.
    var hasWarning = false

    init(_ hear: (@Sendable ([PostgresError]) -> Void)?) { self.hear = hear }

    func note(_ notice: PostgresError) {
        if notice.sqlState == .warning { hasWarning = true }
        if hear != nil { kept.append(notice) }
    }

    func handOut() {
        if !kept.isEmpty { hear?(kept) }
        kept = []
    }
}
