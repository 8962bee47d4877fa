internal import Postgres

/// The settings and grants of a database that no error shows until it is too late. For `doctor`.
struct DatabaseReview: Decodable, Sendable {
    /// Whether a commit reaches the disk (`fsync`).
    let isFlushed: Bool
    /// The rights that this session's role lacks, such as `delete on events`, and the tables whose rows it may not see.
    let missingGrants: [String]

    /// Reads settings and grants. The tables, sequences and functions are those of the owner of `schema_migrations`.
    init(_ database: some PostgresQuerying) async throws {
        self = try await database.query(
            """
            select current_setting('fsync')::bool as "isFlushed", array(
                select format('%s on %s', lower(wanted), c.relname)
                from pg_class m join pg_class c on c.relowner = m.relowner and c.relnamespace = m.relnamespace
                    cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'USAGE']) as wanted
                where m.oid = to_regclass('schema_migrations') and case
                    when c.relkind = 'S' and wanted = 'USAGE' then not has_sequence_privilege(c.oid, wanted)
                    -- The migrations belong to the owner.
                    when c.relkind = 'r' and wanted <> 'USAGE' and (wanted = 'SELECT' or c.relname <> 'schema_migrations')
                        then not has_table_privilege(c.oid, wanted)
                    else false end
                order by c.relname, wanted) || array(
                select format('execute on %s', p.proname)
                from pg_class m join pg_proc p on p.proowner = m.relowner and p.pronamespace = m.relnamespace
                -- A trigger runs whoever changes the table.
                where m.oid = to_regclass('schema_migrations') and p.prorettype <> 'trigger'::regtype
                    and not has_function_privilege(p.oid, 'EXECUTE')
                order by p.proname) || array(
                select format('all rows of %s (row-level security)', c.relname)
                from pg_class m join pg_class c on c.relowner = m.relowner and c.relnamespace = m.relnamespace
                where m.oid = to_regclass('schema_migrations') and c.relkind = 'r' and row_security_active(c.oid)
                order by c.relname) as "missingGrants"
            """)[0].read()
    }
}
