internal import Postgres

/// Where in a loop's work PostgreSQL is stopped: at a statement on one of its tables, or at the commit of a transaction that
/// changed it.
struct FreezeStep: Hashable, CustomStringConvertible {
    let table: String
    let isCommit: Bool

    var description: String { isCommit ? "\(table) at commit" : table }

    /// Every table that a loop writes to: claims, verdicts, leases, alignment, journals.
    static let all: [FreezeStep] =
        [
            "channels", "events", "lanes", "deliveries", "broadcasts", "app_environments", "unmanaged_channels",
            "reconciliations", "quirks", "webhook_messages", "webhook_deliveries", "webhook_attempts", "fan_outs",
            "starts", "leases", "lookup_journal", "api_keys", "audit_log", "installations",
            "activities",
        ].flatMap { [FreezeStep(table: $0, isCommit: false), FreezeStep(table: $0, isCommit: true)] }

    /// The number of the lock that a transaction takes, shared, at this step.
    private var key: Int { 7_000 + 2 * (Self.all.firstIndex(of: self) ?? 0) }

    /// Makes every step a place to wait at.
    static func install(on pool: PostgresPool) async throws {
        // One after the other: a statement that holds two tables' locks may meet one of the server's that holds them
        // the other way round.
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

    /// Nobody gets past the step, until that connection's session ends or `open` is called on it.
    func close(on connection: PostgresConnection) async throws {
        try await connection.query("select pg_advisory_lock(\(key))")
    }

    func open(on connection: PostgresConnection) async throws {
        try await connection.query("select pg_advisory_unlock(\(key))")
    }

    /// Whether somebody waits there.
    func isReached(on connection: PostgresConnection) async throws -> Bool {
        try await !connection.query(
            """
            select from pg_locks where locktype = 'advisory' and not granted and classid = 0 and objid = \(key)::oid
            """
        ).isEmpty
    }
}
