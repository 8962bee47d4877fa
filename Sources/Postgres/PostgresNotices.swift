/// A hearer for the notices (`raise notice`) of a pool's own transactions.
package struct PostgresNotices: Sendable {
    /// The `errcode` of the notices that are meant; others are only logged.
    package var sqlState: PostgresSQLState
    /// Called once for each transaction that had such notices, with their messages in order, when it has ended and
    /// before its caller goes on. A transaction that was rolled back, or whose end is not known, is reported too. It
    /// must not block.
    package var hear: @Sendable ([String]) -> Void

    package init(sqlState: PostgresSQLState, hear: @escaping @Sendable ([String]) -> Void) {
        self.sqlState = sqlState
        self.hear = hear
    }
}
