/// Runs queries. Pools and connections conform to it.
package protocol PostgresQuerying: Sendable {
    /// Runs one query.
    ///
    /// - Throws: `PostgresError`.
    @discardableResult
    func query(_ query: PostgresQuery) async throws -> PostgresRows
}
