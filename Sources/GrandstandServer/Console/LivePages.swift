internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// The pages that scripts fetch again. Each page is made once for all viewers with the same key, and kept for
/// a second.
final class LivePages: Sendable {
    struct Name: Hashable {
        let key: UUID
        /// The path and the query.
        let uri: String
    }

    private struct Making {
        let task: Task<PageResponder.Outcome, any Error>
        let until: Date
    }

    /// `capacity`: the maximum number of pages that are kept. `lifetime`: the seconds for which each page is kept.
    private static let capacity = 256
    private static let lifetime: TimeInterval = 1

    private let made = Mutex<[Name: Making]>([:])

    /// - Throws: the errors of `make`, to all who wait for the same page.
    func outcome(
        _ name: Name, at now: Date, make: @escaping @Sendable () async throws -> PageResponder.Outcome
    ) async throws -> PageResponder.Outcome {
        let task = made.withLock { made in
            if let known = made[name], known.until > now { return known.task }
            made = made.filter { $0.value.until > now }
            if made.count >= Self.capacity { made.removeAll() }
            let task = Task { try await make() }
            made[name] = Making(task: task, until: now.addingTimeInterval(Self.lifetime))
            return task
        }
        return try await task.value
    }
}
