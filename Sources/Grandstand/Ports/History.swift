package import FoundationEssentials

/// What is settled and kept for people to look at.
package protocol History: Sendable {
    /// Forgets up to `limit` broadcasts, their deliveries with them, that were accepted and settled before `cutoff`, the
    /// oldest first. The newest content of an event is kept, for apps that look it up.
    ///
    /// - Returns: how many.
    func prune(before cutoff: Date, limit: Int) async throws -> Int
}
