package import FoundationEssentials
package import Grandstand

/// Lookups' answers with the newest content, read from the database: one query at a time, with all names of the calls
/// that came meanwhile, each once. A caller gets the result of a query that began after its call, so the content is
/// never older than the last one accepted before the call. However many phones ask, the database spends a bounded part
/// of its time on them.
package struct LookupContents: Sendable {
    /// The most names in one query; each may bring 5 KB.
    private static let names = 100
    /// The most callers that may wait; further ones are refused.
    private static let capacity = 10_000
    /// The pause after a query, as a multiple of the query's time. So queries take at most a fifth of one session's
    /// time.
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
