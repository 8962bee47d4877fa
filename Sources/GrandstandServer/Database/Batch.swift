internal import Grandstand
internal import Postgres
internal import Synchronization

/// Work that is never done twice at a time: callers that come while it runs share the next run.
typealias SingleFlight = Batch<@Sendable () async throws -> Void, Void>

extension SingleFlight {
    convenience init(restAfter: @escaping @Sendable (_ work: Duration) -> Duration) {
        self.init(limit: .max, restAfter: restAfter, failsAsOne: true) {
            try await $0[0]()
            return $0.map { _ in }
        }
    }
}

/// Groups items that arrive while other items are in progress, and processes them together afterwards.
///
/// A single call does not wait. Under load, one transaction carries many items, so the fixed cost of a transaction is
/// paid once. For a small transaction, the fixed cost is most of the cost. A transaction that takes long, because of a
/// lock or the disk, does not hold up the others: the next transaction begins beside it, if a slot is free.
final class Batch<Item: Sendable, Output: Sendable>: Sendable {
    private struct Waiter {
        let item: Item
        let since = ContinuousClock.now
        let timeLimit = PostgresTimeLimit.current
        let continuation: CheckedContinuation<Output, any Error>
    }

    private struct State {
        var usedSlots = 0
        var waiting: [Waiter] = []
        /// When work last began.
        var lastBegin = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let slots, maxItems: Int
    private let failsAsOne: Bool
    /// How long the last batch must be under way before another batch begins beside it.
    private let extraSlotDelay = Duration.milliseconds(50)
    private let restAfter: @Sendable (Duration) -> Duration
    private let owner: (@Sendable (Item) -> BundleID)?
    private let work: @Sendable ([Item]) async throws -> [Output]

    /// - Parameters:
    ///   - slots: how many batches may be under way at a time.
    ///   - limit: the maximum number of items in one batch.
    ///   - restAfter: how long a slot rests after a batch that took so long, at most a second. So items that follow closely go
    ///     together, and expensive work takes a bounded share of the database.
    ///   - failsAsOne: whether one query answers all items, so that each error, too, is the answer to all of them.
    ///   - owner: the app of an item. With `owner`, apps take turns: an item does not wait behind ten thousand items of
    ///     another app.
    ///   - work: returns an output for each item, in order. If the database cannot be reached, that is the answer to every
    ///     item. After any other error the items are processed again one by one, so that one item does not make the
    ///     others fail. What `work` has made durable until then must stay as it is when it is repeated.
    init(
        slots: Int = 1, limit: Int, restAfter: @escaping @Sendable (_ work: Duration) -> Duration = { _ in .zero },
        failsAsOne: Bool = false,
        owner: (@Sendable (Item) -> BundleID)? = nil,
        work: @escaping @Sendable ([Item]) async throws -> [Output]
    ) {
        (self.slots, self.maxItems, self.restAfter, self.owner, self.work) = (slots, limit, restAfter, owner, work)
        self.failsAsOne = failsAsOne
    }

    /// The number of items that wait for a slot.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Processes the item, alone or with others. Items keep their order; with `owner`, the items of one app keep their
    /// order. Cancelling the task does not remove the item from a batch.
    ///
    /// - Throws: the errors of the work.
    func run(_ item: Item) async throws -> Output {
        try await PostgresTimeLimit.countingWait {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.waiting.append(Waiter(item: item, continuation: continuation)) }
                if takeSlot() { startNext() }
            }
        }
    }

    /// Takes a slot, if a slot is free.
    private func takeSlot() -> Bool {
        state.withLock { state in
            guard
                state.usedSlots == 0 || state.usedSlots < slots && state.lastBegin.duration(to: .now) >= extraSlotDelay
            else { return false }
            (state.usedSlots, state.lastBegin) = (state.usedSlots + 1, .now)
            return true
        }
    }

    /// Is called when a batch begins. If it takes long, another one starts beside it for the items that wait by then.
    private func addSlotIfSlow() {
        guard slots > 1 else { return }
        Task.detached { [self] in
            try? await Task.sleep(for: extraSlotDelay)
            if waitingCount > 0, takeSlot() { startNext() }
        }
    }

    /// Rests after a batch that began then, and gives its slot to calls that wait.
    private func passSlot(_ began: ContinuousClock.Instant) {
        let rest = min(.seconds(1), restAfter(began.duration(to: .now)))
        guard rest > .zero else { return startNext() }
        Task.detached {
            try? await Task.sleep(for: rest)
            self.startNext()
        }
    }

    /// Gives the slot to calls that wait. If no call waits, the slot becomes free.
    private func startNext() {
        let next = state.withLock { state in
            if let owner, state.waiting.count > maxItems {
                var seen: [BundleID: Int] = [:]
                let turns = state.waiting.map { waiting in
                    seen[owner(waiting.item), default: 0] += 1
                    return seen[owner(waiting.item), default: 0]
                }
                let order = state.waiting.indices.sorted { (turns[$0], $0) < (turns[$1], $1) }
                state.waiting = order.map { state.waiting[$0] }
            }
            let next = Array(state.waiting.prefix(maxItems))
            state.waiting.removeFirst(next.count)
            if next.isEmpty { state.usedSlots -= 1 } else { state.lastBegin = .now }
            return next
        }
        guard let first = next.first else { return }
        addSlotIfSlow()
        // The batch runs in a new task: it must not belong to the task of a caller, or join that task's transaction. Its
        // time limit counts from the call that has waited longest, so that this call is answered in time. If the call is
        // alone, its earlier waits count, too.
        Task.detached {
            let timeLimit = first.timeLimit.map {
                $0.renewed(waited: first.since.duration(to: .now) + (next.count == 1 ? $0.maxWait - $0.rest : .zero))
            }
            await PostgresTimeLimit.$current.withValue(timeLimit) {
                for (one, result) in zip(next, await self.process(next.map(\.item))) {
                    one.continuation.resume(with: result)
                }
            }
        }
    }

    /// Works on items that have a slot, and gives the slot up.
    private func process(_ items: [Item]) async -> [Result<Output, any Error>] {
        let began = ContinuousClock.now
        var results: [Result<Output, any Error>] = []
        do {
            results = try await work(items).map { .success($0) }
            precondition(results.count == items.count, "an item has no output")
        } catch
            where items.count == 1 || failsAsOne
            || (error as? Problem)?.kind == .storeUnavailable && error as? Problem != .contention
        {
            // The slot of a failed batch does not rest, because the callers have already waited long for a database
            // that does not answer.
            startNext()
            return items.map { _ in .failure(error) }
        } catch {
            for item in items {
                do { results.append(.success(try await work([item])[0])) } catch { results.append(.failure(error)) }
            }
        }
        passSlot(began)
        return results
    }
}
