internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// An event in one line: on the list of events, and on the overview.
struct EventRow: Sendable {
    let eventHref: String
    let eventKey: String
    let eventName: String
    let eventState: String
    /// The part of the list that it is in.
    let part: String
    /// The day of its start, or, if it began without a planned start, of its declaration; `nil`: it has no day yet.
    let day: Moment?
    /// `2026-11-28`; empty if the row before has the same day.
    let dayText: String
    let starts: Moment?
    /// `20:45`, in UTC like `dayText`.
    let clock: String
    /// What lock screens show of a live event, and what they showed last of one that is over.
    let score: ContentLine?
    /// Its kind and the states of its channels if not all are active.
    let remark: String

    init(_ event: Contract.Event, _ score: ContentLine?, after previous: EventRow? = nil) {
        eventHref = ConsolePath.event(event.eventKey)
        eventKey = event.key
        eventName = event.name
        eventState = event.state.rawValue
        part = event.state == .live ? "Live" : event.state == .scheduled ? "Next" : "Over"
        starts = event.startsAt.map { Moment($0) }
        day = starts ?? (event.state == .scheduled ? nil : Moment(event.createdAt))
        let isSameDay = previous?.part == part && previous?.day?.day == day?.day
        dayText = isSameDay ? "" : day?.day ?? ""
        clock = starts.map { String($0.iso.dropFirst(11).prefix(5)) } ?? ""
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

extension EventReader {
    /// The events as lines. Those that have begun have their score.
    func rows(_ events: [Contract.Event]) async throws -> [EventRow] {
        let contents = try await self.events.newestContents(of: events.filter { $0.state != .scheduled }.map(\.key))
        let previews = try await previews(of: Set(events.flatMap(\.apps)))
        return events.reduce(into: []) { rows, event in
            let preview = event.apps.lazy.compactMap { previews[$0] }.first
            rows.append(EventRow(event, contents[event.key].map { ContentLine($0, preview) }, after: rows.last))
        }
    }
}
