internal import Grandstand
internal import Postgres

extension DatabaseSession {
    /// Tests what requests need of the database: a commit that reaches the disk and the synchronous standbys, and some
    /// free disk space. It writes no row.
    ///
    /// The checks have their own connections. So a process whose other connections are all in use does not report the
    /// database as unavailable.
    ///
    /// - Returns: `nil` if the database does its work.
    func probe() async -> DatabaseFinding? {
        do {
            return try await self[.probe].withConnection { try await probe($0) }
        } catch {
            return (error as? PostgresError).flatMap { DatabaseFinding($0) }
        }
    }

    private func probe(_ connection: PostgresConnection) async throws -> DatabaseFinding? {
        if let fault = try await Migrator(pool).status(on: connection).fault {
            return DatabaseFinding(.schema, detail: "\(fault)")
        }
        let rows = try await connection.pipeline([Self.spill, "select current_setting('transaction_read_only')::bool"])
        if try rows[1][0].decode(Bool.self) { return DatabaseFinding(.readOnly) }
        // A commit with a record in the write-ahead log and no row: nothing has to be cleaned up, and no lock is waited for.
        try await connection.query("select pg_logical_emit_message(true, 'grandstand', '') is null")
        return nil
    }

    /// This query sorts more than `work_mem`, so that the server writes a temporary file of some 100 kB. Such a write
    /// fails on a full disk. A commit alone does not fail, because the next segments of the write-ahead log exist
    /// already.
    private static let spill: PostgresQuery = """
        select count(*) from (
            select repeat('x', 8000) || n as filler from generate_series(1, 16) as n order by 1 desc offset 0) as sorted
        """
}
