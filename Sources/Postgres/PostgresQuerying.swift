/// A pool or a connection: both take queries.
package protocol PostgresQuerying: Sendable {
    /// Runs one query.
    ///
    /// - Throws: `PostgresError`.
    @discardableResult
    func query(_ query: PostgresQuery) async throws -> PostgresRows
}
