package import FoundationEssentials

/// A store of what is settled and kept for a while, and forgotten by age.
package protocol PrunableStore: Sendable {
    /// Forgets up to `limit` entries that came and were settled before `cutoff`, the oldest first, with all of theirs.
    /// What is still asked for is kept: of broadcasts the newest content of an event.
    ///
    /// - Returns: how many.
    func prune(before cutoff: Date, limit: Int) async throws -> Int
}
