package import FoundationEssentials

/// A store of settled rows that are deleted by age.
package protocol PrunableStore: Sendable {
    /// Forgets up to `limit` entries that came and were settled before `cutoff`, the oldest first, with all of theirs.
    /// Rows that are still needed are kept: of broadcasts the newest content of an event.
    ///
    /// - Returns: how many.
    func prune(before cutoff: Date, limit: Int) async throws -> Int
}
