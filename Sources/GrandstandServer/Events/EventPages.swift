internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// `/console/events`: the list of events, and the page of each.
struct EventPages: PageGroup {
    let reader: EventReader
    let log: AuditLog

    /// The number of entries of the audit log on the event's page.
    private static let changesShown = 20

    var routes: [PageRoute] {
        [PageRoute("/events", .organise, list), PageRoute("/events/:key", .organise, show)]
    }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        let filter = EventFilter(
            state: try visit.query.choice("state"), kind: visit.query["kind"],
            season: try visit.query.read("season", SeasonName.rule, SeasonName.init), bundleID: try visit.chosenApp(),
            part: visit.query["find"], reach: visit.reach)
        let expected = "The number of events before the page was expected."
        let skipped = try visit.query.read("cursor", expected) { Int($0).flatMap { $0 >= 0 ? $0 : nil } } ?? 0
        let limit = visit.page.limit
        let events = try await reader.events.agenda(
            where: filter, skipping: skipped, limit: limit + 1, now: visit.now)
        return .page(
            EventList(
                try await reader.rows(Array(events.prefix(limit))),
                next: events.count > limit ? String(skipped + limit) : nil, filter, visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        var contents = try await reader.contents(visit)
        let filter = AuditFilter(event: contents.event.eventKey, omitsUpdates: true, reach: visit.reach)
        contents.changes = try await log.entries(where: filter, PageRequest(limit: Self.changesShown)).items
        return .page(EventDetail(contents, visit, composer: try await reader.composer(contents, visit)))
    }
}

/// Reads the records for pages of an event.
struct EventReader: Sendable {
    let apps: AppStore
    let events: EventStore
    let outbox: Outbox
    let starts: StartStore
    let throttles: PostgresThrottles

    /// The number of messages on one page.
    static let pageLength = 20

    /// The event in the path.
    ///
    /// - Throws: `event-not-found`, `forbidden`.
    func event(_ visit: Visit) async throws -> Versioned<Contract.Event> {
        try await events.declared(try visit.eventKey(), within: visit.reach, now: visit.now)
    }

    func contents(_ visit: Visit) async throws -> EventDetail.Contents {
        let versioned = try await event(visit)
        let event = versioned.value
        let key = event.eventKey
        var request = visit.page
        request.limit = Self.pageLength
        let page = try await outbox.broadcasts(of: key, within: visit.reach, request)
        let plotted = PageRequest(limit: MatchPlot.length(audiences: event.audiences.count), cursor: nil)
        let newest =
            visit.isAtStart && page.nextCursor == nil
            ? page.items : try await outbox.broadcasts(of: key, within: visit.reach, plotted).items
        var contents = EventDetail.Contents(event: event, version: versioned.version, page: page, plotted: newest)
        if visit.isAtStart {
            contents.scheduled = try await outbox.scheduled(of: key, within: visit.reach, request).items
        }
        if event.start != nil {
            contents.starts = try await starts.report(of: key, within: visit.reach, .asItIs, now: visit.now).audiences
        }
        contents.throttles = try await throttles.throttles(now: visit.now).filter { throttle in
            event.audiences.contains {
                $0.bundleId == throttle.app.bundleID.rawValue
                    && $0.environment.rawValue == throttle.app.environment.rawValue
            }
        }
        contents.previews = try await previews(of: event.apps)
        return contents
    }

    /// The templates of the apps that have some.
    func previews(of bundleIDs: some Collection<BundleID>) async throws -> [BundleID: ContentPreview] {
        var previews: [BundleID: ContentPreview] = [:]
        for bundleID in bundleIDs {
            previews[bundleID] = try await apps.app(bundleID)?.value.preview.map(ContentPreview.init)
        }
        return previews
    }
}
