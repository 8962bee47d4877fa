internal import Grandstand
internal import Synchronization

/// Marks the events that this process has changed and not yet read again. A lookup of a marked event waits until it has
/// been read. Changes by other processes are not marked; they are read within a second.
final class LookupMarks: Sendable {
    /// A reading of the database that begins after this value was made. It contains all marked changes up to then.
    struct Reading: Sendable {
        fileprivate var made: Int
        fileprivate var at: ContinuousClock.Instant
    }

    private struct Mark {
        /// A number that grows with every mark. A new mark of the same event replaces the old one.
        var number: Int
        /// The time since which the event has needed to be read.
        var since: ContinuousClock.Instant
    }

    private struct Waiting {
        var id: Int
        var key: EventKey
        /// The number of the mark that this caller waits for.
        var number: Int
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var marks: [EventKey: Mark] = [:]
        /// The number of marks ever made.
        var made = 0
        var waiting: [Waiting] = []
        var asked = 0
    }

    private let state = Mutex(State())
    /// The number of marked events. It is usually zero, and then lookups take no lock.
    private let count = Atomic(0)
    private let patience: Duration

    /// - Parameter patience: how long a lookup waits for an event that cannot be read. Without the database, an old
    ///   answer with its age is better than none.
    init(patience: Duration) { self.patience = patience }

    /// The number of marks ever made.
    var made: Int { state.withLock(\.made) }

    /// The number of waiting callers.
    var waitingCount: Int { state.withLock(\.waiting.count) }

    func mark(_ keys: [EventKey]) {
        let now = ContinuousClock.now
        state.withLock { state in
            for key in keys {
                state.made += 1
                state.marks[key] = Mark(number: state.made, since: state.marks[key]?.since ?? now)
            }
            count.store(state.marks.count, ordering: .releasing)
        }
    }

    /// Whether the event with this key is marked.
    func contain(_ key: EventKey) -> Bool {
        count.load(ordering: .acquiring) > 0 && state.withLock { $0.marks[key] != nil }
    }

    /// Whether no event is marked.
    var areAllRead: Bool { count.load(ordering: .acquiring) == 0 }

    /// Begins a reading now.
    func reading() -> Reading { state.withLock { Reading(made: $0.made, at: .now) } }

    /// Removes the marks of events that were read in `reading`, and resumes their callers.
    func remove(_ keys: [EventKey], after reading: Reading) {
        guard count.load(ordering: .acquiring) > 0 else { return }
        let freed = state.withLock { state -> [Waiting] in
            var read: Set<EventKey> = []
            for key in keys {
                guard let mark = state.marks[key] else { continue }
                read.insert(key)
                // An event that was marked again after the reading began keeps its mark.
                state.marks[key] = mark.number <= reading.made ? nil : Mark(number: mark.number, since: reading.at)
            }
            count.store(state.marks.count, ordering: .releasing)
            let isFreed = { (waiting: Waiting) in read.contains(waiting.key) && waiting.number <= reading.made }
            let freed = state.waiting.filter(isFreed)
            if !freed.isEmpty { state.waiting.removeAll(where: isFreed) }
            return freed
        }
        for waiting in freed { waiting.continuation.resume(returning: true) }
    }

    /// Waits until all changes of this event made so far are in memory, but no longer than `patience`.
    ///
    /// - Returns: `true` if memory is up to date; `false`: it is older than a change.
    func areRead(of key: EventKey) async -> Bool {
        guard count.load(ordering: .acquiring) > 0, let mark = state.withLock({ $0.marks[key] }) else { return true }
        let end = mark.since + patience
        guard ContinuousClock.now < end else { return false }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.wait(for: key, mark.number) }
            group.addTask {
                try? await Task.sleep(until: end, clock: .continuous)
                return false
            }
            let isRead = await group.next() ?? false
            group.cancelAll()
            return isRead
        }
    }

    /// Waits until all changes made so far are in memory, but no longer than `patience`.
    ///
    /// - Returns: as `areRead(of:)`, for all events.
    func areAllRead() async -> Bool {
        guard !areAllRead else { return true }
        for key in state.withLock({ Array($0.marks.keys) }) where !(await areRead(of: key)) { return false }
        return true
    }

    private func wait(for key: EventKey, _ number: Int) async -> Bool {
        let id = state.withLock { state in
            state.asked += 1
            return state.asked
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Bool? in
                    guard state.marks[key] != nil else { return true }
                    if Task.isCancelled { return false }
                    state.waiting.append(Waiting(id: id, key: key, number: number, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let waiting = state.withLock { state -> Waiting? in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            waiting?.continuation.resume(returning: false)
        }
    }
}
