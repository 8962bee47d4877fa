internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import GrandstandContract
internal import JSON

/// The source of the declared events: a running server or the configured database. Nothing is changed there.
struct RehearsalSource: Sendable {
    /// The filter of a list of events.
    struct Filter: Sendable {
        var state: Event.State?
        var from: Date?
        var to: Date?
    }

    private let page: @Sendable (Filter, _ cursor: String?) async throws -> (events: [JSONValue], next: String?)
    /// The most channels an app may have in one environment.
    let channelLimit: @Sendable (BundleID) async throws -> Int
    /// The content types of an app.
    let contents: @Sendable (BundleID) async throws -> [RehearsalContent]

    func events(_ filter: Filter) async throws -> [DeclaredEvent] {
        var (events, cursor): ([DeclaredEvent], String?) = ([], nil)
        repeat {
            let page = try await page(filter, cursor)
            events += try page.events.map(DeclaredEvent.init)
            cursor = page.next
        } while cursor != nil
        return events
    }

    /// Reads from a running server. The key needs the scope `organise`.
    static func server(_ access: ServerAccess) -> RehearsalSource {
        RehearsalSource { filter, cursor in
            let answer = try ServerAccess.json(
                of: try await access.answer(
                    to: .listEvents(
                        state: filter.state.map { .init(rawValue: $0.rawValue) }, from: filter.from, to: filter.to
                    ).page(limit: 200, after: cursor)))
            return (answer?["items"]?.elements ?? [], answer?["nextCursor"]?.string)
        } channelLimit: { bundleID in
            let app = try ServerAccess.json(of: try await access.answer(to: .getApp(bundleID.rawValue)))
            guard case .number(let text) = app?["channelLimit"]?.kind, let limit = Int(text) else {
                throw StartError("the key has no access to the limits of \(bundleID): use one with the scope organise")
            }
            return limit
        } contents: { bundleID in
            let page = try ServerAccess.json(
                of: try await access.answer(to: .listContents(bundleID.rawValue).page(limit: 200)))
            return try (page?["items"]?.elements ?? []).map { type in
                try RehearsalContent(
                    bundleID, try Contract.ContentType(json: type).attributesType, Contract.ContentTypeDraft(json: type)
                )
            }
        }
    }

    static func database(_ session: DatabaseSession) -> RehearsalSource {
        RehearsalSource { filter, cursor in
            let page = try await session.declaredEvents(
                where: EventFilter(state: filter.state, from: filter.from, to: filter.to),
                PageRequest(limit: 200, cursor: cursor))
            return (try page.items.map { try JSONValue(parsing: $0, maximumValues: .max) }, page.nextCursor)
        } channelLimit: { bundleID in
            guard let app = try await session.declaredApp(bundleID) else {
                throw StartError("there is no app \(bundleID) in the database")
            }
            return app.channelLimit
        } contents: { bundleID in
            try await session.declaredContents(of: bundleID).map { type in
                try RehearsalContent(bundleID, type.attributesType, Contract.ContentTypeDraft(type))
            }
        }
    }
}
