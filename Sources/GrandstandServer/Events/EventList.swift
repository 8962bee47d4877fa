internal import Grandstand
internal import GrandstandContract

/// The list of events: those that are live, then those to come, then those that are over.
struct EventList: ConsolePage {
    struct Part: Sendable {
        let partHeading: String
        let rows: [EventRow]
    }

    var template: String { "events" }
    let title = "Events"
    var refresh: Int? { 5 }
    /// What was typed to find an event.
    let part: String
    let states: [Choice]
    let parts: [Part]
    let pager: Pager

    /// - Parameter next: the cursor of the next page.
    init(_ rows: [EventRow], next: String? = nil, _ filter: EventFilter, _ visit: Visit) {
        part = filter.part ?? ""
        let kept = [
            ("find", filter.part), ("kind", filter.kind), ("season", filter.season?.rawValue),
            ("bundleId", filter.bundleID?.rawValue),
        ]
        states = ([nil] + Contract.EventState.allCases).map { state in
            Choice(
                ConsolePath.link(ConsolePath.events, kept + [("state", state?.rawValue)]),
                label: state?.rawValue ?? "all", isChosen: state == filter.state)
        }
        parts = ["Live", "Next", "Over"].compactMap { heading in
            let rows = rows.filter { $0.part == heading }
            return rows.isEmpty ? nil : Part(partHeading: heading, rows: rows)
        }
        pager = Pager(visit, query: kept + [("state", filter.state?.rawValue)], nextCursor: next)
    }
}
