/// What queries can be put to: a pool, or one connection of it.
package protocol PostgresQuerying: Sendable {
    /// Runs one query.
    ///
    /// - Throws: `PostgresError`.
    @discardableResult
    func query(_ query: PostgresQuery) async throws -> PostgresRows
}
