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
    func finding() async -> DatabaseFinding? {
        do {
            return try await self[.probe].withConnection { try await look($0) }
        } catch {
            return (error as? PostgresError).flatMap { DatabaseFinding($0) }
        }
    }

    private func look(_ connection: PostgresConnection) async throws -> DatabaseFinding? {
        switch try await Migrator(pool).status(on: connection) {
        case .current, .newer: break
        case .behind(let names):
            return DatabaseFinding(
                .schema, detail: "migrations are missing (\(names.joined(separator: ", "))): run grandstand migrate")
        case .refused(let refusal): return DatabaseFinding(.schema, detail: "\(refusal)")
        }
        if connection.isReadOnly { return DatabaseFinding(.readOnly) }
        let rows = try await connection.pipeline([Self.room, Self.commit])
        return try rows[1][0].decode(Bool.self, "is_read_only") ? DatabaseFinding(.readOnly) : nil
    }

    /// This query sorts more than `work_mem`, so that the server writes a temporary file of some 100 kB. Such a write
    /// fails on a full disk. A commit alone does not fail, because the next segments of the write-ahead log exist
    /// already.
    private static let room: PostgresQuery = """
        select count(*) from (
            select repeat('x', 8000) || n as filler from generate_series(1, 16) as n order by 1 desc offset 0) as sorted
        """

    /// A commit with a record in the write-ahead log and no row: nothing has to be cleaned up, and no lock is waited
    /// for.
    private static let commit: PostgresQuery = """
        select pg_logical_emit_message(true, 'grandstand', '') is null,
            current_setting('transaction_read_only')::bool as is_read_only
        """
}
