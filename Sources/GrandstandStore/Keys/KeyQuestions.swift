internal import Grandstand
internal import Postgres
internal import Synchronization

/// Questions to the database that wait for each other: one query at a time, with all hashes that were asked meanwhile.
final class KeyQuestions: Sendable {
    typealias Hash = SecretHash

    private struct State {
        var waiting: [(hash: Hash, continuation: CheckedContinuation<APIKey?, any Error>)] = []
        var isAsking = false
    }

    /// Hashes in one query.
    private static let batch = 500
    /// More questions than this wait for nothing.
    private static let capacity = 20_000

    private let answers: @Sendable ([Hash]) async throws -> [Hash: APIKey]
    private let state = Mutex(State())

    init(_ answers: @escaping @Sendable ([Hash]) async throws -> [Hash: APIKey]) { self.answers = answers }

    /// How many wait for a query that has not begun.
    var waitingCount: Int { state.withLock(\.waiting.count) }

    /// The key with this hash, in order of asking.
    ///
    /// - Throws: what the query throws; `store-unavailable` when too many wait.
    func ask(_ hash: Hash) async throws -> APIKey? {
        try await withCheckedThrowingContinuation { continuation in
            let (isFull, starts) = state.withLock { state in
                guard state.waiting.count < Self.capacity else { return (true, false) }
                state.waiting.append((hash, continuation))
                defer { state.isAsking = true }
                return (false, !state.isAsking)
            }
            if isFull {
                continuation.resume(
                    throwing: Problem(
                        .storeUnavailable, "Too many keys that are not known are being tried. Try again.", retryAfter: 1
                    ))
            } else if starts {
                Task { await self.askAll() }
            }
        }
    }

    private func askAll() async {
        while let some = next() {
            do {
                let found = try await PostgresPatience.renewing { try await answers(Array(Set(some.map(\.hash)))) }
                for (hash, continuation) in some { continuation.resume(returning: found[hash]) }
            } catch {
                for (_, continuation) in some { continuation.resume(throwing: error) }
            }
        }
    }

    private func next() -> [(hash: Hash, continuation: CheckedContinuation<APIKey?, any Error>)]? {
        state.withLock { state in
            let some = Array(state.waiting.prefix(Self.batch))
            state.waiting.removeFirst(some.count)
            state.isAsking = !some.isEmpty
            return some.isEmpty ? nil : some
        }
    }
}
