internal import FoundationEssentials
internal import Grandstand

/// `/console/events`: what people follow, and what became of it.
struct EventRoutes: Sendable {
    let events: any EventStore
    let outbox: any Outbox

    var routes: [PageRoute] {
        [PageRoute("/events", .organise, list), PageRoute("/events/:key", .organise, show)]
    }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        if let key = try visit.query.read("key", EventKey.rule, EventKey.init) {
            return .elsewhere(ConsolePath.event(key))
        }
        let filter = EventFilter(
            state: try visit.query.choice("state"), kind: visit.query["kind"], bundleID: try visit.chosenApp(),
            within: visit.key.reach)
        return .page(EventList(try await events.events(where: filter, visit.page, now: visit.now), filter, visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let key = try visit.eventKey()
        let event = try await events.declared(key, within: visit.reach, now: visit.now)
        var page = visit.page
        page.limit = 20
        return .page(EventDetail(event, try await outbox.broadcasts(of: key, within: visit.key.reach, page), visit))
    }
}
