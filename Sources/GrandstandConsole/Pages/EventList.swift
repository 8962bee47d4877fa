internal import Grandstand

/// Events, narrowed by state, kind and app.
struct EventList: ConsolePage {
    var template: TemplateName { .events }
    let title = "Events"
    var refresh: Int? { 30 }
    let states: [Choice]
    let kind: String
    let bundleID: String
    let rows: [EventRow]
    let pager: Pager
    let commands: [Command]

    init(_ page: Page<Event>, _ filter: EventFilter, _ visit: Visit) {
        states = Choice.all(Event.State.self, chosen: filter.state)
        kind = filter.kind ?? ""
        bundleID = filter.bundleID?.rawValue ?? ""
        rows = page.items.map(EventRow.init)
        pager = Pager(
            visit,
            query: [("state", filter.state?.rawValue), ("kind", filter.kind), ("bundleId", visit.query["bundleId"])],
            nextCursor: page.nextCursor)
        commands = [.putEvent()]
    }
}

/// One line of the list.
struct EventRow: Sendable {
    let key: String
    let href: String
    let name: String
    let kindText: String
    let state: String
    let startsAt: Moment?
    let endsAt: Moment?
    /// `2 active, 1 failed`
    let channels: String

    init(_ event: Event) {
        let specification = event.specification
        key = specification.key.rawValue
        href = ConsolePath.event(specification.key)
        name = specification.name
        kindText = specification.kind ?? ""
        state = event.state.rawValue
        startsAt = specification.startsAt.map { Moment($0) }
        endsAt = specification.endsAt.map { Moment($0) }
        channels = Wording.tally(event.channels.map(\.state.rawValue))
    }
}
