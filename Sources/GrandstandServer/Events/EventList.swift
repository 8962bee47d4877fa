internal import Grandstand
internal import GrandstandContract

/// The list of events, filtered by state, kind, season and app.
struct EventList: ConsolePage {
    var template: TemplateName { .events }
    let title = "Events"
    var refresh: Int? { 30 }
    let newEventHref = ConsolePath.newEvent
    let states: [Choice]
    let kind: String
    let season: String
    let bundleID: String
    let events: Table
    let pager: Pager

    init(_ page: Page<Contract.Event>, _ filter: EventFilter, _ visit: Visit) {
        states = Choice.all(Event.State.self, chosen: filter.state)
        kind = filter.kind ?? ""
        season = filter.season?.rawValue ?? ""
        bundleID = filter.bundleID?.rawValue ?? ""
        events = Table(
            "Events, and how many of their channels are in which state", nothing: "No event fits.", page.items,
            [
                Column("Event") { [.event($0.eventKey)] }, Column("Name") { [.quoted($0.name)] },
                Column("State") { [.state($0.state.rawValue)] },
                Column("Kind") { [.quoted($0.kind ?? "")] },
                Column("Starts") { [.moment($0.startsAt)] },
                Column("Ends") { [.moment($0.endsAt)] }, Column("Channels") { [.words($0.channelsText)] },
            ])
        pager = Pager(
            visit,
            query: [
                ("state", filter.state?.rawValue), ("kind", filter.kind), ("season", filter.season?.rawValue),
                ("bundleId", visit.query["bundleId"]),
            ],
            nextCursor: page.nextCursor)
    }
}

extension Contract.Event {
    /// `2 active, 1 failed`
    var channelsText: String { Wording.tally(audiences.map(\.channel.state.rawValue)) }
}
