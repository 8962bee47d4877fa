internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// What scripts fetch again when something has changed: made once for all viewers with the same key and page, however
/// many they are, and forgotten after a second.
final class LivePages: Sendable {
    struct Name: Hashable {
        let key: UUID
        /// With its query.
        let uri: String
        /// What the viewers were told.
        let change: String
    }

    private struct Making {
        let task: Task<PageResponder.Outcome, any Error>
        let until: Date
    }

    /// Pages kept at a time, and seconds each is.
    private static let capacity = 256
    private static let lifetime: TimeInterval = 1

    private let made = Mutex<[Name: Making]>([:])

    /// - Throws: what `make` throws, for all who asked for the same.
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
