package import FoundationEssentials
package import Grandstand

/// Lookups' answers with the newest content, off the database: one query at a time, with all names that were asked
/// meanwhile, each once. A caller gets what a query found that began after its call, so no caller gets the content
/// before one that was accepted; and however many phones ask, the database spends a bounded part of its time on them.
package struct LookupContents: Sendable {
    /// Names in one query; each may bring 5 KB.
    private static let names = 100
    /// More callers than this wait for nothing.
    private static let capacity = 10_000
    /// A query is followed by a rest so many times as long as it took: a fifth of one session's time at most.
    private static let rest = 4

    private let batch: Batch<LookupName, LookupAnswer?>

    package init(events: any EventStore, now: @escaping @Sendable () -> Date) {
        batch = Batch(
            limit: Self.capacity, capacity: Self.capacity, restPerWork: Self.rest, isEveryones: { _ in true }
        ) { asked in
            var entries: [LookupName: LookupEntry] = [:]
            var names = Array(Set(asked))[...]
            while !names.isEmpty {
                let some = Set(names.prefix(Self.names))
                entries.merge(try await events.lookups(of: some, contentState: true, now: now())) { $1 }
                names = names.dropFirst(Self.names)
            }
            return asked.map { entries[$0].map { LookupAnswer($0) } }
        }
    }

    /// How many callers wait for a query that has not begun.
    var waitingCount: Int { batch.waitingCount }

    /// The answer for `name`, with content where there is some; `nil` for a name that is not known.
    ///
    /// - Throws: `store-unavailable`, also when too many wait.
    package func answer(_ name: LookupName) async throws -> LookupAnswer? { try await batch.run(name) }
}
