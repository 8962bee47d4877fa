package import Grandstand
internal import GrandstandHTTP
internal import GrandstandStore
internal import JSON

/// Reads what a database declares, for commands that work without a server. Nothing is changed.
extension DatabaseSession {
    /// A page of the events, each as the API's JSON.
    package func declaredEvents(where filter: EventFilter, _ page: PageRequest) async throws -> Page<[UInt8]> {
        let events = try await PostgresEventStore(Database(pool)).events(where: filter, page, now: try await now())
        return Page(items: events.items.map { JSONWriter.text(Contract.Event($0)) }, nextCursor: events.nextCursor)
    }

    /// The first 200 content types of an app.
    package func declaredContents(of bundleID: BundleID) async throws -> [ContentType] {
        try await PostgresContentStore(Database(pool)).contentTypes(of: bundleID, PageRequest(limit: 200, cursor: nil))
            .items.map(\.type)
    }

    /// The app with this bundle ID; `nil`: there is no such app.
    package func declaredApp(_ bundleID: BundleID) async throws -> App? {
        try await PostgresAppStore(Database(pool)).app(bundleID)
    }
}
