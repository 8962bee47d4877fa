internal import Grandstand

/// Lookups' answers with the newest content, read from the database. Only one query runs at a time. Calls that come
/// during a query are answered together by the next query, and each name is read only once for all of them. A caller
/// gets the result of a query that began after its call. So the content is never older than the last content that was
/// accepted before the call. However many phones ask, the database spends a bounded part of its time on these queries.
struct LookupContents: Sendable {
    /// The maximum number of names in one query. The answer for one name may have 5 KB.
    private static let names = 100
    /// The most callers that may wait; further ones are refused.
    private static let capacity = 10_000
    /// The pause after a query, as a multiple of the query's time. So queries take at most a fifth of one session's
    /// time.
    private static let rest = 4

    private let batch: Batch<LookupName, LookupAnswer?>

    /// - Parameter read: queries the database for the answers to a limited number of names.
    init(_ read: @escaping @Sendable (Set<LookupName>) async throws -> [LookupName: LookupAnswer]) {
        batch = Batch(
            limit: Self.capacity, capacity: Self.capacity, restPerWork: Self.rest, failsWholeBatch: { _ in true }
        ) { asked in
            var answers: [LookupName: LookupAnswer] = [:]
            var names = Array(Set(asked))[...]
            while !names.isEmpty {
                let some = Set(names.prefix(Self.names))
                answers.merge(try await read(some)) { $1 }
                names = names.dropFirst(Self.names)
            }
            return asked.map { answers[$0] }
        }
    }

    /// How many callers wait for a query that has not begun.
    var waitingCount: Int { batch.waitingCount }

    /// The answer for `name`, with content where there is some; `nil` for a name that is not known.
    ///
    /// - Throws: `store-unavailable`, also when too many callers wait.
    func answer(_ name: LookupName) async throws -> LookupAnswer? { try await batch.run(name) }
}
