internal import Postgres

/// The point in a loop's work at which PostgreSQL is stopped: a statement on a table, or the commit of a transaction
/// that changed the table.
struct FreezeStep: Hashable, CustomStringConvertible {
    let table: String
    let isCommit: Bool

    var description: String { isCommit ? "\(table) at commit" : table }

    /// Two steps for every table that a loop writes to: the statement and the commit. Loops write, for example, claims,
    /// verdicts, leases, the alignment of channels with events, and journals.
    static let all: [FreezeStep] =
        [
            "channels", "events", "lanes", "deliveries", "broadcasts", "app_environments", "unmanaged_channels",
            "reconciliations", "webhook_messages",
            "start_runs", "starts", "lookup_journal", "api_keys", "audit_log", "installations",
            "activities",
        ].flatMap { [FreezeStep(table: $0, isCommit: false), FreezeStep(table: $0, isCommit: true)] }

    /// The key of the advisory lock that a transaction takes, in shared mode, at this step.
    private var key: Int { 7_000 + 2 * (Self.all.firstIndex(of: self) ?? 0) }

    /// Creates the triggers that make transactions wait at a step.
    static func install(on pool: PostgresPool) async throws {
        // Each script is a transaction of its own. A transaction that locks two tables could deadlock with the server,
        // which may lock them in the opposite order.
        var scripts = [
            """
            create function step() returns trigger language plpgsql as
            $$ begin perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint); return null; end $$
            """
        ]
        for step in all {
            scripts.append(
                step.isCommit
                    ? """
                    create constraint trigger step_commit after insert or update or delete on \(step.table)
                        deferrable initially deferred for each row execute function step(\(step.key))
                    """
                    : """
                    create trigger step before insert or update or delete on \(step.table)
                        for each statement execute function step(\(step.key))
                    """)
        }
        for script in scripts { try await pool.withConnection { try await $0.script(script) } }
    }

    /// Lets no transaction pass the step until the session of `connection` ends or `open` is called with `connection`.
    func close(on connection: PostgresConnection) async throws {
        try await connection.query("select pg_advisory_lock(\(key))")
    }

    func open(on connection: PostgresConnection) async throws {
        try await connection.query("select pg_advisory_unlock(\(key))")
    }

    /// Whether a transaction waits at the step.
    func isReached(on connection: PostgresConnection) async throws -> Bool {
        try await !connection.query(
            """
            select from pg_locks where locktype = 'advisory' and not granted and classid = 0 and objid = \(key)::oid
            """
        ).isEmpty
    }
}
