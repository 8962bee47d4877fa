package import FoundationEssentials
package import Grandstand
internal import Synchronization

/// Lookups' answers with the newest content, off the database: one query at a time, with all names that were asked
/// meanwhile, each once. A caller gets what a query found that began after its call, so no caller gets the content
/// before one that was accepted; and however many phones ask, the database spends a bounded part of its time on them.
package final class LookupContents: Sendable {
    private typealias Waiting = CheckedContinuation<LookupAnswer?, any Error>

    private struct State {
        /// The names in order of asking.
        var names: [LookupName] = []
        var waiting: [LookupName: [Waiting]] = [:]
        var count = 0
        var isAsking = false
    }

    /// Names in one query; each may bring 5 KB.
    private static let batch = 100
    /// More callers than this wait for nothing.
    private static let capacity = 10_000
    /// A query is followed by a rest so many times as long as it took: a fifth of one session's time at most. One that
    /// waited for a database that hung is followed by `longestRest`.
    private static let rest = 4
    private static let longestRest = Duration.seconds(1)

    private let events: any EventStore
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    package init(events: any EventStore, now: @escaping @Sendable () -> Date) {
        self.events = events
        self.now = now
    }

    /// How many callers wait for a query that has not begun.
    var waitingCount: Int { state.withLock(\.count) }

    /// The answer for `name`, with content where there is some; `nil` for a name that is not known.
    ///
    /// - Throws: `store-unavailable`, also when too many wait.
    package func answer(_ name: LookupName) async throws -> LookupAnswer? {
        try await withCheckedThrowingContinuation { continuation in
            let (isFull, starts) = state.withLock { state in
                guard state.count < Self.capacity else { return (true, false) }
                if state.waiting[name] == nil { state.names.append(name) }
                state.waiting[name, default: []].append(continuation)
                state.count += 1
                defer { state.isAsking = true }
                return (false, !state.isAsking)
            }
            if isFull {
                continuation.resume(throwing: Self.full)
            } else if starts {
                Task { await self.askAll() }
            }
        }
    }

    private func askAll() async {
        let clock = ContinuousClock()
        while let some = next() {
            let time = await clock.measure {
                do {
                    let entries = try await events.lookups(of: Set(some.keys), contentState: true, now: now())
                    for (name, waiting) in some {
                        let answer = entries[name].map { LookupAnswer($0) }
                        for continuation in waiting { continuation.resume(returning: answer) }
                    }
                } catch {
                    for continuation in some.values.joined() { continuation.resume(throwing: error) }
                }
            }
            try? await Task.sleep(for: min(Self.longestRest, time * Self.rest))
        }
    }

    /// The next query's keys; `nil`: none, and the next caller begins anew.
    private func next() -> [LookupName: [Waiting]]? {
        state.withLock { state in
            let names = state.names.prefix(Self.batch)
            guard !names.isEmpty else {
                state.isAsking = false
                return nil
            }
            var some: [LookupName: [Waiting]] = [:]
            for name in names { some[name] = state.waiting.removeValue(forKey: name) }
            state.names.removeFirst(names.count)
            state.count -= some.values.reduce(0) { $0 + $1.count }
            return some
        }
    }

    private static let full = Problem(
        .storeUnavailable,
        "Too many lookups with include=contentState wait for the database. Try again, or without it.",
        retryAfter: 1)
}
