internal import Grandstand
internal import Postgres
internal import Synchronization

/// Work that is never done twice at a time: callers that come while it runs share the next run.
typealias SingleFlight = Batch<@Sendable () async throws -> Void, Void>

extension SingleFlight {
    convenience init(leastRest: Duration = .zero, restPerWork: Int = 0) {
        self.init(limit: .max, leastRest: leastRest, restPerWork: restPerWork, failsWholeBatch: { _ in true }) {
            try await $0[0]()
            return $0.map { _ in }
        }
    }
}

/// Groups items that arrive while other items are in progress, and processes them together afterwards.
///
/// A single call does not wait. Under load, one transaction carries many items, so the fixed cost of a transaction is
/// paid once. For a small transaction, the fixed cost is most of the cost. A transaction that takes long, because of a
/// lock or the disk, does not hold up the others: the next transaction begins beside it, if a place is free.
final class Batch<Item: Sendable, Output: Sendable>: Sendable {
    private struct Waiting {
        let item: Item
        let since = ContinuousClock.now
        let timeLimit = PostgresTimeLimit.current
        let continuation: CheckedContinuation<Output, any Error>
    }

    private struct State {
        var running = 0
        var waiting: [Waiting] = []
        /// When work last began.
        var lastBegin = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let places, limit, restPerWork: Int
    private let extraPlaceDelay, leastRest: Duration
    private let owner: (@Sendable (Item) -> BundleID)?
    private let work: @Sendable ([Item]) async throws -> [Output]
    private let failsWholeBatch: @Sendable (any Error) -> Bool

    /// - Parameters:
    ///   - places: how many batches may be under way at a time.
    ///   - extraPlaceDelay: how long the last batch must be under way before another batch begins beside it.
    ///   - limit: the maximum number of items in one batch.
    ///   - leastRest: the shortest rest of a place after a batch, so that items that follow closely go together.
    ///   - restPerWork: after a batch, its place rests this many times as long as the batch took, at most a second, so
    ///     that expensive work takes a bounded share of the database.
    ///   - owner: the app of an item. With `owner`, apps take turns: an item does not wait behind ten thousand items of
    ///     another app.
    ///   - failsWholeBatch: whether an error is the answer to every item of a batch. After any other error, the items
    ///     are processed again one by one, so that one item does not make the others fail.
    ///   - work: returns an output for each item, in order. After an error the items may be processed again, so what
    ///     `work` has made durable until then must stay as it is when it is repeated.
    init(
        places: Int = 1, extraPlaceDelay: Duration = .zero, limit: Int, leastRest: Duration = .zero,
        restPerWork: Int = 0,
        owner: (@Sendable (Item) -> BundleID)? = nil,
        failsWholeBatch: @escaping @Sendable (any Error) -> Bool = { ($0 as? Problem)?.kind == .storeUnavailable },
        work: @escaping @Sendable ([Item]) async throws -> [Output]
    ) {
        (self.places, self.extraPlaceDelay, self.limit, self.leastRest) = (places, extraPlaceDelay, limit, leastRest)
        (self.restPerWork, self.owner, self.failsWholeBatch, self.work) = (restPerWork, owner, failsWholeBatch, work)
    }

    /// The number of items that wait for a place.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Processes the item, alone or with others. Items keep their order; with `owner`, the items of one app keep their
    /// order. Cancelling the task does not remove the item from a batch.
    ///
    /// - Throws: the errors of the work.
    func run(_ item: Item) async throws -> Output {
        guard enter(overtaking: false) else {
            return try await PostgresTimeLimit.counting {
                try await withCheckedThrowingContinuation { continuation in
                    state.withLock { $0.waiting.append(Waiting(item: item, continuation: continuation)) }
                    // A place may have become free between the search above, which found none, and the moment when the
                    // item began to wait.
                    if enter() { startNext() }
                }
            }
        }
        watch()
        return try await process([item])[0].get()
    }

    /// Takes a place, if a place is free.
    ///
    /// - Parameter overtaking: whether to take a place even if items wait. A caller that will give the place to the
    ///   waiting items (`startNext`) may overtake; a new item may not.
    private func enter(overtaking: Bool = true) -> Bool {
        state.withLock { state in
            let isFree =
                state.running == 0 || state.running < places && state.lastBegin.duration(to: .now) >= extraPlaceDelay
            guard isFree, overtaking || state.waiting.isEmpty else { return false }
            state.running += 1
            state.lastBegin = .now
            return true
        }
    }

    /// Is called when a batch begins. If it takes long, another one starts beside it for the items that wait by then.
    private func watch() {
        guard places > 1 else { return }
        Task.detached { [self] in
            try? await Task.sleep(for: extraPlaceDelay)
            if waitingCount > 0, enter() { startNext() }
        }
    }

    /// Rests after a batch that began then, and gives its place to calls that wait.
    private func leave(_ began: ContinuousClock.Instant) {
        let rest = max(leastRest, min(.seconds(1), began.duration(to: .now) * restPerWork))
        guard rest > .zero else { return startNext() }
        Task.detached {
            try? await Task.sleep(for: rest)
            self.startNext()
        }
    }

    /// Gives the place to calls that wait. If no call waits, the place becomes free.
    private func startNext() {
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
        guard let first = next.first else { return }
        watch()
        // The batch runs in a new task: it must not belong to the task that gives up the place, or join that task's
        // transaction. Its time limit counts from the call that has waited longest, so that this call is answered in time.
        Task.detached {
            let timeLimit = first.timeLimit?.renewed(waited: first.since.duration(to: .now))
            await PostgresTimeLimit.$current.withValue(timeLimit) {
                for (one, result) in zip(next, await self.process(next.map(\.item))) {
                    one.continuation.resume(with: result)
                }
            }
        }
    }

    /// Works on items that have a place, and gives the place up.
    private func process(_ items: [Item]) async -> [Result<Output, any Error>] {
        let began = ContinuousClock.now
        var results: [Result<Output, any Error>] = []
        do {
            results = try await work(items).map { .success($0) }
            precondition(results.count == items.count, "an item has no output")
        } catch  where items.count == 1 || failsWholeBatch(error) {
            // The place of a failed batch does not rest, because the callers have already waited long for a database
            // that does not answer.
            startNext()
            return items.map { _ in .failure(error) }
        } catch {
            for item in items {
                do { results.append(.success(try await work([item])[0])) } catch { results.append(.failure(error)) }
            }
        }
        leave(began)
        return results
    }
}
