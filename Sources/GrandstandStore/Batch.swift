internal import Grandstand
internal import Postgres
internal import Synchronization

/// Groups items that arrive while other items are in progress, and processes them together afterwards.
///
/// A single call does not wait. Under load one transaction carries many items, so its fixed cost is paid once. For a
/// small transaction this is most of the cost. A transaction that takes long, because of a lock or the disk, does not
/// hold up the others: the next one begins beside it, if a place is free.
final class Batch<Item: Sendable, Output: Sendable>: Sendable {
    private struct Waiting {
        let item: Item
        let since = ContinuousClock.now
        let continuation: CheckedContinuation<Output, any Error>
    }

    private struct State {
        var running = 0
        var waiting: [Waiting] = []
        /// When the last work began.
        var lastBegin = ContinuousClock.now
        /// Whether a task watches the callers that wait.
        var isWatched = false
    }

    private let state = Mutex(State())
    private let places: Int
    private let patience: Duration
    private let limit: Int
    private let capacity: Int
    private let restPerWork: Int
    private let owner: (@Sendable (Item) -> BundleID)?
    private let work: @Sendable ([Item]) async throws -> [Output]
    private let isEveryones: @Sendable (any Error) -> Bool

    /// - Parameters:
    ///   - places: how many batches may be under way at a time.
    ///   - patience: how long the last batch must be under way before another begins beside it.
    ///   - limit: the most items of one batch.
    ///   - capacity: the most items that may wait; further ones are refused.
    ///   - restPerWork: after a batch its place rests this many times as long as the batch took, at most a second, so
    ///     that expensive work takes a bounded share of the database.
    ///   - owner: the app of an item, if apps take turns: an item does not wait behind ten thousand items of another
    ///     app.
    ///   - isEveryones: whether an error is the answer to every item of a batch. After any other error the items are
    ///     done again one by one, so that one item does not fail the others.
    ///   - work: must have done nothing when it throws; otherwise it returns an output for each item, in order.
    init(
        places: Int = 1, patience: Duration = .zero, limit: Int, capacity: Int = .max, restPerWork: Int = 0,
        owner: (@Sendable (Item) -> BundleID)? = nil,
        isEveryones: @escaping @Sendable (any Error) -> Bool = { ($0 as? Problem)?.kind == .storeUnavailable },
        work: @escaping @Sendable ([Item]) async throws -> [Output]
    ) {
        self.places = places
        self.patience = patience
        self.limit = limit
        self.capacity = capacity
        self.restPerWork = restPerWork
        self.owner = owner
        self.isEveryones = isEveryones
        self.work = work
    }

    /// The number of items that wait for a place.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Processes the item, alone or with others, never before an earlier item that still waits. Cancelling the task
    /// does not remove the item from a batch.
    ///
    /// - Throws: what the work throws; `store-unavailable` when too many wait.
    func run(_ item: Item) async throws -> Output {
        guard enter(overtaking: false) else { return try await shared(item) }
        let began = ContinuousClock.now
        do {
            let output = try await only(item)
            leave(began)
            return output
        } catch {
            leave(nil)
            throw error
        }
    }

    /// Takes a place, if one is free.
    ///
    /// - Parameter overtaking: take it even if others wait; for the task that gives the place to them.
    private func enter(overtaking: Bool = true) -> Bool {
        state.withLock { state in
            guard overtaking || state.waiting.isEmpty else { return false }
            guard state.running == 0 || state.running < places && state.lastBegin.duration(to: .now) >= patience else {
                return false
            }
            state.running += 1
            state.lastBegin = .now
            return true
        }
    }

    private func only(_ item: Item) async throws -> Output {
        guard let output = try await work([item]).first else { throw NothingAnswered() }
        return output
    }

    private func shared(_ item: Item) async throws -> Output {
        try await PostgresPatience.counting { try await withCheckedThrowingContinuation { wait(item, $0) } }
    }

    private func wait(_ item: Item, _ continuation: CheckedContinuation<Output, any Error>) {
        let isWatched = state.withLock { state -> Bool? in
            guard state.waiting.count < capacity else { return nil }
            state.waiting.append(Waiting(item: item, continuation: continuation))
            guard places > 1 else { return true }
            defer { state.isWatched = true }
            return state.isWatched
        }
        guard let isWatched else { return continuation.resume(throwing: Self.full) }
        // A place may have become free between the two locks.
        if enter() { goOn() }
        if !isWatched {
            Task.detached { [patience = PostgresPatience.current] in
                await PostgresPatience.$current.withValue(patience) { await self.watch() }
            }
        }
    }

    /// Starts another batch for callers that wait behind a long transaction, even if no other call comes.
    private func watch() async {
        while true {
            try? await Task.sleep(for: patience)
            let isDone = state.withLock { state in
                state.isWatched = !state.waiting.isEmpty
                return !state.isWatched
            }
            if isDone { return }
            if enter() { goOn() }
        }
    }

    /// Ends a batch.
    ///
    /// - Parameter began: when the batch began; `nil`: the batch failed. Then its place does not rest, because the
    ///   callers have already waited long for a database that does not answer.
    private func leave(_ began: ContinuousClock.Instant?) {
        let rest = began.map { min(Self.longestRest, $0.duration(to: .now) * restPerWork) } ?? .zero
        guard rest > .zero else { return goOn() }
        Task.detached { [patience = PostgresPatience.current] in
            try? await Task.sleep(for: rest)
            PostgresPatience.$current.withValue(patience) { self.goOn() }
        }
    }

    private static var longestRest: Duration { .seconds(1) }

    /// Gives the place to calls that wait; if none waits, the place is free.
    private func goOn() {
        let next = state.withLock { state in
            if let owner, state.waiting.count > limit {
                var seen: [BundleID: Int] = [:]
                let turns = state.waiting.map { waiting in
                    seen[owner(waiting.item), default: 0] += 1
                    return seen[owner(waiting.item), default: 0]
                }
                let order = state.waiting.indices.sorted { (turns[$0], $0) < (turns[$1], $1) }
                state.waiting = order.map { state.waiting[$0] }
            }
            let next = Array(state.waiting.prefix(limit))
            state.waiting.removeFirst(next.count)
            if next.isEmpty { state.running -= 1 } else { state.lastBegin = .now }
            return next
        }
        guard !next.isEmpty else { return }
        // A new task: it must not belong to the task that gives up the place, or join that task's transaction.
        Task.detached { [patience = PostgresPatience.current] in
            // The time limit counts from the call that has waited longest, so that it is answered in time.
            let patience = patience?.renewed(waited: next[0].since.duration(to: .now))
            await PostgresPatience.$current.withValue(patience) { await self.runAll(next) }
        }
    }

    private func runAll(_ next: [Waiting]) async {
        var began: ContinuousClock.Instant? = .now
        defer { leave(began) }
        do {
            let outputs = try await work(next.map(\.item))
            guard outputs.count == next.count else { throw NothingAnswered() }
            for (one, output) in zip(next, outputs) { one.continuation.resume(returning: output) }
        } catch  where next.count == 1 || isEveryones(error) {
            began = nil
            for one in next { one.continuation.resume(throwing: error) }
        } catch {
            for one in next {
                do {
                    one.continuation.resume(returning: try await only(one.item))
                } catch {
                    one.continuation.resume(throwing: error)
                }
            }
        }
    }

    /// `work` did not return one output for each item.
    private struct NothingAnswered: Error {}

    private static var full: Problem {
        Problem(
            .storeUnavailable, "Too many callers wait for the database with the same kind of question. Try again.",
            retryAfter: 1)
    }
}
