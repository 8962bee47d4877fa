internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// `/console/events`: the list of events, and the page of each.
extension API {
    var eventPages: [PageRoute] {
        [
            PageRoute("/events", .organise) { visit in
                let filter = try eventFilter(visit.query, visit)
                let expected = "The number of events before the page was expected."
                let skipped = try visit.query.read("cursor", expected) { Int($0).flatMap { $0 >= 0 ? $0 : nil } } ?? 0
                let limit = 50
                let events = try await stores.events.agenda(
                    where: filter, skipping: skipped, limit: limit + 1, now: visit.now)
                return .page(
                    EventList(
                        try await rows(Array(events.prefix(limit))),
                        next: events.count > limit ? String(skipped + limit) : nil, filter, visit))
            },
            PageRoute("/events/:key", .organise) { visit in
                let contents = try await contents(visit)
                return .page(EventDetail(contents, visit, composer: try await composer(contents, visit)))
            },
        ]
    }

    /// The records for the page of the event in the path.
    ///
    /// - Throws: `event-not-found`, `forbidden`.
    func contents(_ visit: Visit) async throws -> EventDetail.Contents {
        let versioned = try await stores.events.declared(visit.eventKey(), within: visit.reach, now: visit.now)
        let event = versioned.value
        let key = event.eventKey
        let first = PageRequest(limit: EventDetail.pageLength)
        let page = try await stores.outbox.broadcasts(
            of: key, within: visit.reach, PageRequest(limit: first.limit, cursor: visit.query["cursor"]))
        let newest =
            visit.isFirstPage ? page : try await stores.outbox.broadcasts(of: key, within: visit.reach, first)
        var contents = EventDetail.Contents(
            event: event, version: versioned.version, page: page, newest: newest.items)
        if visit.isFirstPage {
            contents.scheduled = try await stores.outbox.broadcasts(
                of: key, within: visit.reach, first, isScheduled: true
            ).items
        }
        if event.start != nil {
            contents.starts = try await stores.starts.report(of: key, within: visit.reach, now: visit.now)
                .audiences
        }
        let places = Set(event.audiences.map { [$0.bundleId, $0.environment.rawValue] })
        let throttles: [ThrottledApp] = try await stores.main.query(ThrottledApp.all(now: visit.now)).read()
        contents.throttles = throttles.filter {
            places.contains([$0.app.bundleID.rawValue, $0.app.environment.rawValue])
        }
        contents.previews = try await previews(of: event.apps)
        contents.changes = try await stores.auditLog.entries(
            where: AuditFilter(event: key, omitsUpdates: true, reach: visit.reach), PageRequest(limit: 20)
        ).items
        return contents
    }

    /// The templates of the apps that have some.
    func previews(of bundleIDs: Set<BundleID>) async throws -> [String: ContentPreview] {
        var previews: [String: ContentPreview] = [:]
        for bundleID in bundleIDs {
            previews[bundleID.rawValue] = try await stores.apps.app(bundleID)?.value.preview.map(ContentPreview.init)
        }
        return previews
    }

    /// The events as lines. Those that have begun have their score.
    func rows(_ events: [Contract.Event]) async throws -> [EventRow] {
        let begun = events.filter { $0.state != .scheduled }.map(\.key)
        let contents = try await stores.events.newestContents(of: begun)
        let previews = try await previews(of: Set(events.flatMap(\.apps)))
        return events.map { event in
            let preview = event.audiences.lazy.compactMap { previews[$0.bundleId] }.first
            return EventRow(event, contents[event.key].map { ContentLine($0, preview) })
        }
    }
}

/// The list of events: those that are live, then those to come, then those that are over.
struct EventList: ConsolePage {
    var template: String { "events" }
    let title = "Events"
    var refresh: Int? { 5 }
    /// What was typed to find an event.
    let part: String
    let states: [Choice]
    let parts: [(partHeading: String, rows: [EventRow])]
    /// The link to the next page.
    let onward: String?

    /// - Parameter next: the cursor of the next page.
    init(_ rows: [EventRow], next: String? = nil, _ filter: EventFilter, _ visit: Visit) {
        part = filter.text ?? ""
        let kept = [
            ("find", filter.text), ("kind", filter.kind), ("season", filter.season),
            ("bundleId", filter.bundleID?.rawValue),
        ]
        states = ([nil] + Contract.EventState.allCases).map { state in
            Choice(
                ConsolePath.link(ConsolePath.events, kept + [("state", state?.rawValue)]),
                label: state?.rawValue ?? "all", isChosen: state == filter.state)
        }
        parts = ["Live", "Next", "Over"].compactMap { heading in
            let rows = rows.filter { $0.section == heading }
            return rows.isEmpty ? nil : (heading, rows)
        }
        onward = next.map { ConsolePath.link(visit.path, kept + [("state", filter.state?.rawValue), ("cursor", $0)]) }
    }
}

/// An event in one line: on the list of events, and on the overview.
struct EventRow: Sendable {
    let event: Contract.Event
    let eventHref: String
    /// The part of the list that it is in.
    let section: String
    let starts: Moment?
    /// What lock screens show of a live event, and what they showed last of one that is over.
    let score: ContentLine?
    /// Its kind and the states of its channels if not all are active.
    let remark: String

    init(_ event: Contract.Event, _ score: ContentLine?) {
        self.event = event
        eventHref = ConsolePath.event(event.eventKey)
        section = event.state == .live ? "Live" : event.state == .scheduled ? "Next" : "Over"
        starts = event.startsAt.map { Moment($0) }
        self.score = score
        remark = [event.kind, event.channelsNote].compactMap(\.self).joined(separator: " · ")
    }
}

extension Contract.Event {
    /// The states of all channels if one of them is not active; `nil`: all are active, or the event is over.
    var channelsNote: String? {
        let states = audiences.filter { !$0.isByToken }.map(\.channel.state)
        guard !isOver, states.contains(where: { $0 != .active }) else { return nil }
        return "Channels: \(Wording.tally(states.map { $0 == .none ? "not made" : $0.rawValue }))"
    }
}

extension Resource {
    /// The form that declares an event, and those on an event's page, other than its composer. `eventPages` shows the
    /// events themselves.
    static let eventForms = Resource(
        path: "", scope: .organise,
        links: ["All events": "/events", "The event": "/events/:key"],
        detail: Detail(
            operation: .getEvent, path: "/events/:key",
            facts: [
                Field("name", as: "Event"), "state",
                Field("audiences", as: "Channels") { audiences in
                    .quoted(Wording.tally((audiences.elements ?? []).map { $0["channel"]?.text("state") ?? "" }))
                },
            ]),
        actions: [
            Action(
                path: "/declare", operation: .putEvent, label: "Declare an event",
                words: [
                    "For sport Apple recommends noMessageStored: whoever was offline gets no old score. Apps from Xcode use "
                        + "development, those from TestFlight and the App Store production."
                ], hasPage: true, initial: formDefaults,
                notice: { _, _ in "It is declared; its channels are made when their time comes." }),
            Action(
                path: "/events/:key/broadcasts/:id/withdraw", operation: .cancelBroadcast, label: "Withdraw",
                notice: { _, _ in "The broadcast was withdrawn. The earlier content is current again." }),
            Action(
                path: "/events/:key/cancel", operation: .cancelEvent, label: "Cancel it",
                words: [
                    "The event takes no more messages, what waits is not sent, and its channels retire.",
                    "With an end message, the activities on lock screens end, too. Without it, they stay until they are "
                        + "stale or twelve hours old.",
                    "You can reopen the event while its channels exist. Activities that received the end stay ended.",
                ], hasPage: true,
                notice: { _, fields in
                    fields["end"] == "true"
                        ? "It is cancelled; a last end is on its way." : "It is cancelled. No end was sent."
                }),
            Action(
                path: "/events/:key/reopen", operation: .reopenEvent, label: "Reopen it",
                words: [
                    "The event takes messages again, with the channels that still exist. An end that is still waiting is "
                        + "withdrawn. Where it may have been sent, the newest content is sent again, for phones that "
                        + "were offline.",
                    "An activity that received the end cannot be restored. The sooner you reopen, the fewer are lost. "
                        + "The followers of a channel that was deleted are lost.",
                ], hidden: ["audiences"], hasPage: true,
                notice: { event, _ in (["The event is reopened."] + event.texts("warnings")).joined(separator: " ") }),
            Action(
                path: "/events/:key/start", operation: .startEvent, label: "Start now",
                words: [
                    "A push starts the activity on the phones of all who follow one of its topics. A start goes to a phone "
                        + "once, and cannot be taken back there."
                ], hasPage: true, notice: { _, _ in "The start is being sent." }),
            Action(
                path: "/events/:key/stop", operation: .stopStart, label: "Stop",
                notice: { _, _ in "Pushes that were not sent yet are stopped. “Start now” sends them." }),
            Action(
                path: "/events/:key/move", operation: .patchEvent, label: "Move it",
                notice: { event, _ in (["It is moved."] + event.texts("warnings")).joined(separator: " ") }),
        ])

    /// What docs/organising.md advises for a match: people who are offline get no old score, and a score is out of date
    /// after five minutes without a message.
    @Sendable private static func formDefaults(_ visit: Visit) async throws -> JSONValue {
        let apps = try await visit.call(.listApps).object
        let audience = apps.items("items").first.map { "\($0.text("bundleId")) production noMessageStored" }
        return try JSONValue(
            decoding: Array(
                #"{"kind":"match","defaults":{"staleAfter":300,"expiresIn":1800},"audiences":"#.utf8)
                + (audience ?? "").quotedJSON.utf8 + Array("}".utf8))
    }
}
