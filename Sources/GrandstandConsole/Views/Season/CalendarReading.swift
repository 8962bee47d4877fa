internal import FoundationEssentials
internal import Grandstand

/// What is said of a calendar.
struct CalendarReading: Sendable {
    let name: String
    let href: String
    /// `ics` or `csv`, as it was declared.
    let format: String
    let origin: String
    let lastSyncAt: Moment?
    let lastSyncText: String
    let nextRefreshAt: Date?
    let failure: String?
    let alarm: [Piece]
    /// What is to be done with it: a sync, or a file, where it has no address to fetch it from.
    let action: Piece

    init(_ calendar: FixtureCalendar) {
        name = calendar.name.rawValue
        href = ConsolePath.calendar(calendar.name)
        format = calendar.formatWord
        origin = calendar.declaration.url?.origin ?? "its file is sent"
        lastSyncAt = calendar.lastSync.map { Moment($0.at) }
        lastSyncText =
            calendar.lastSync.map { sync in
                "\(Wording.number(sync.create)) created, \(Wording.number(sync.change)) changed, "
                    + "\(Wording.number(sync.cancel)) cancelled, \(Wording.number(sync.unchanged)) as they were, "
                    + Wording.count(sync.problems, "problem")
            } ?? "never synced"
        nextRefreshAt = calendar.nextRefreshAt
        failure = calendar.failure
        alarm =
            calendar.shrunk.map { shrunk in
                let events = Wording.count(shrunk.future, "event")
                return [
                    Piece.level(
                        "warning", "\(Wording.number(shrunk.vanished)) of \(events) to come vanished from it at"),
                    .time(Moment(shrunk.since)), .line("None was cancelled: look at its file, and sync it again."),
                ]
            } ?? []
        action =
            calendar.declaration.url == nil
            ? .link("Send a file", href)
            : .form(
                .init(
                    action: ConsolePath.calendar(calendar.name, "apply"), button: "Sync now",
                    hidden: [.init(name: "fetch", value: "yes")]))
    }
}

extension FixtureCalendar {
    /// `ics` or `csv`, as it was declared.
    var formatWord: String {
        declaration.source["format"].flatMap { try? JSONValue(parsing: $0) }?.string ?? "ics"
    }
}
