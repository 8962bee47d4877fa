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
