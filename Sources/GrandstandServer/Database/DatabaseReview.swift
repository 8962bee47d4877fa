internal import Postgres

/// The settings and grants of a database that no error shows until it is too late. For `doctor`.
struct DatabaseReview: Decodable, Sendable {
    /// Whether a commit reaches the disk (`fsync`).
    let isFlushed: Bool
    /// The tables, sequences and functions that this session's role lacks a right on, or whose rows it may not all see.
    let unusable: [String]

    /// Reads settings and grants. The tables, sequences and functions are those of the owner of `schema_migrations`.
    init(_ database: some PostgresQuerying) async throws {
        self = try await database.query(
            """
            with own as (
                select relowner as owner, relnamespace as space from pg_class where oid = to_regclass('schema_migrations'))
            select current_setting('fsync')::bool as "isFlushed", array(
                select c.relname::text from own join pg_class c on c.relowner = owner and c.relnamespace = space
                where case c.relkind when 'S' then not has_sequence_privilege(c.oid, 'USAGE')
                    when 'r' then row_security_active(c.oid) or not has_table_privilege(c.oid, 'SELECT')
                        -- The migrations belong to the owner.
                        or c.relname <> 'schema_migrations' and not (has_table_privilege(c.oid, 'INSERT')
                            and has_table_privilege(c.oid, 'UPDATE') and has_table_privilege(c.oid, 'DELETE'))
                    else false end
                union all select p.proname::text from own join pg_proc p on p.proowner = owner and p.pronamespace = space
                -- A trigger runs whoever changes the table.
                where p.prorettype <> 'trigger'::regtype and not has_function_privilege(p.oid, 'EXECUTE')
                order by 1) as unusable
            """)[0].read()
    }
}
