internal import FoundationEssentials

/// Rows of one kind that are deleted when they are old.
struct RetentionRule: Sendable {
    /// The name of the rows in the log.
    let rows: String
    /// Seconds for which a row is kept after its end: its settlement, expiry, last report or last use.
    let keep: TimeInterval
    /// How many rows one step deletes. The number is small, so that no other transaction waits long for the step.
    var step = 500
    /// Deletes up to `limit` rows that ended before `cutoff`, the oldest first, together with all rows that belong to
    /// them. Rows that are still needed stay. Returns how many of the `limit` rows were deleted.
    let prune: @Sendable (_ cutoff: Date, _ limit: Int) async throws -> Int
}
