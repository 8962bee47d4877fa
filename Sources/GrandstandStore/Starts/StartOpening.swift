internal import Postgres

/// The lock between registrations and openings. Either a follower's rows are committed before a run's sweep begins, or
/// its registration finds the run open and queues the follower for it.
enum StartOpening {
    /// An arbitrary constant for the lock.
    private static let key = 7_230_518_204_417_735

    /// For transactions that write installations and what they follow. Many can hold it at a time, until their commit.
    static let shared: PostgresQuery = "select pg_advisory_xact_lock_shared(\(key))"

    /// For the transaction that opens a run or begins its sweep again. No other can hold the lock until its commit.
    static let exclusive: PostgresQuery = "select pg_advisory_xact_lock(\(key))"
}
