internal import Postgres

/// The lock between registrations and openings of runs. Either a follower's rows are committed before a run's
/// followers are read, or the follower's registration finds the run open and adds the follower to the run.
enum StartOpening {
    /// An arbitrary constant for the lock.
    private static let key = 7_230_518_204_417_735

    /// The lock for transactions that write installations and the topics that they follow. Many transactions can hold
    /// it at a time, until their commit.
    static let shared: PostgresQuery = "select pg_advisory_xact_lock_shared(\(key))"

    /// The lock for the transaction that opens a run or makes a run read its followers again. Until this transaction
    /// commits, no other transaction can hold the lock.
    static let exclusive: PostgresQuery = "select pg_advisory_xact_lock(\(key))"
}
