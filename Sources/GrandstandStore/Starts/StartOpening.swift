internal import Postgres

/// The lock between registrations and openings: a follower either stands in the tables before a run's sweep begins, or
/// sees the run as open and queues for it.
enum StartOpening {
    /// Any constant of ours.
    private static let key = 7_230_518_204_417_735

    /// For transactions that write installations and what they follow, held until the commit: many at a time.
    static let shared: PostgresQuery = "select pg_advisory_xact_lock_shared(\(key))"

    /// For the transaction that opens a run or begins its sweep anew, held until the commit: no other meanwhile.
    static let exclusive: PostgresQuery = "select pg_advisory_xact_lock(\(key))"
}
