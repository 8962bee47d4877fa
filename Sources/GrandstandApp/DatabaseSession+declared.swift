package import Grandstand
internal import GrandstandHTTP
internal import GrandstandStore
internal import JSON

/// Reads what a database declares, for commands that work without a server. Nothing is changed.
extension DatabaseSession {
    /// A page of the events, each as the API's JSON.
    package func declaredEvents(where filter: EventFilter, _ page: PageRequest) async throws -> Page<[UInt8]> {
        let events = try await PostgresEventStore(Database(pool)).events(where: filter, page, now: try await now())
        return Page(items: events.items.map { JSONWriter.text($0) }, nextCursor: events.nextCursor)
    }

    /// The app; `nil`: it does not exist.
    package func declaredApp(_ bundleID: BundleID) async throws -> App? {
        try await PostgresAppStore(Database(pool)).app(bundleID)
    }
}
