internal import Foundation
internal import Grandstand
internal import GrandstandServer

/// The changes that a calendar makes to its season's events. They depend only on the entries, the time, and the present
/// events with their notes (`SeasonNote`).
///
/// For every member three values are compared: what the calendar said in the last run, what it says now, and what the
/// event has. If the calendar says the same as in the last run, the event keeps its value, whoever set it. If the
/// calendar says something else, its value is used.
struct CalendarPlan: Sendable {
    var create: [Write] = []
    var change: [Write] = []
    var cancel: [Write] = []
    /// Events in which only the `SeasonNote` changes.
    private(set) var notes: [Write] = []
    var unchanged = 0
    /// Entries of past fixtures that have no event. None is made for them.
    private(set) var past = 0
    var problems: [CalendarFault]
    /// Whether no event is cancelled, because too many are missing or cancelled at once.
    var holdsBack = false

    private let entries: Entries
    private let events: [EventKey: PresentEvent]
    private let now: Date
    private let byUID: [String: PresentEvent]
    private let uids: Set<String>

    /// - Parameter events: the season's events, and other events that have the key of a draft.
    init(_ request: Entries, _ events: [EventKey: PresentEvent], now: Date) {
        problems = request.problems
        (self.entries, self.events, self.now) = (request, events, now)
        byUID = request.byUID(in: events)
        uids = request.uids
        var seen: [EventKey: EntryEvent] = [:]
        for draft in request.drafts {
            // An entry with a new UID takes over the event of its key, unless the file still has that event's own UID.
            let key = byUID[draft.uid]?.key ?? draft.key
            let note = events[key]?.note
            if let other = seen[key] {
                refuse(
                    draft, "The entry on line \(other.line) already makes the event \(key). The first entry is used.")
            } else if let note, note.season == request.season, note.uid != draft.uid, uids.contains(note.uid) {
                refuse(draft, "The event \(key) belongs to another entry. Change eventKey so that keys differ.")
            } else {
                seen[key] = draft
                consider(draft, key)
            }
        }
        cancelMissing(Set(seen.keys))
        reportNewUIDs()
    }

    // MARK: Entries of the file

    private mutating func consider(_ draft: EntryEvent, _ key: EventKey) {
        let isPast = draft.pastAt.map { $0 <= now } ?? false
        guard let event = events[key] else {
            if isPast { return past += 1 }
            if draft.isCancelled { return unchanged += 1 }
            let write = Write(line: draft.line, key: key, declaration: draft.document, note: makeNote(draft, nil))
            if validate(write) != nil { create.append(write) }
            return
        }
        if let other = event.note?.season, other != entries.season {
            return refuse(
                draft, "The event \(key) belongs to the season \(other). Change eventKey so that keys differ.")
        }
        if draft.isCancelled { return consider(cancelled: draft, event) }
        if event.state == .cancelled {
            if event.note?.removal == .cancelled, !isPast {
                return refuse(
                    draft,
                    "The event \(key) was cancelled by this calendar, but is in it again. "
                        + "`grandstand event reopen \(key)` reopens it.")
            }
            unchanged += 1
            return
        }
        let note = makeNote(draft, event)
        let names = note.said.differences(from: event.note?.said ?? JSONDraft())
        var write = Write(
            line: draft.line, key: key, present: event, declaration: event.document.taking(names, from: draft.document),
            note: note)
        if !names.isEmpty {
            guard let draft = validate(write) else { return }
            // Only the server knows whether an ended event expired, so that it opens again.
            if !event.state.isOver || draft.reaches(beyond: now) {
                let after = JSONDraft(declaring: draft)
                write.fields = after.differences(from: event.document).filter { names.contains($0) }
                    .map { ($0, event.document[$0], after[$0]) }
            }
        }
        if write.fields.isEmpty {
            unchanged += 1
            storeNote(write)
        } else {
            change.append(write)
        }
    }

    private mutating func consider(cancelled draft: EntryEvent, _ event: PresentEvent) {
        // Keep the last known state of the entry, so that later changes are noticed.
        var note = event.note ?? makeNote(draft, nil)
        note.uid = draft.uid
        if note.removal == .heldBack { note.removal = nil }
        if event.state == .scheduled, !event.isKeptOpen {
            cancel.append(cancellation(of: event, note, .cancelled, line: draft.line))
            return
        }
        if event.note != nil {
            storeNote(Write(line: draft.line, key: event.key, present: event, declaration: event.document, note: note))
        }
        // An event that is already over, or that somebody has reopened, is not cancelled.
        if event.state.isOver || event.isKeptOpen {
            unchanged += 1
        } else {
            refuse(
                draft,
                "The calendar cancels the event \(event.key), but it has begun. `grandstand event cancel \(event.key)` "
                    + "cancels it.")
        }
    }

    /// The note for an entry that the calendar does not cancel.
    ///
    /// - Parameter event: the entry's event; `nil`: there is no event yet.
    private func makeNote(_ draft: EntryEvent, _ event: PresentEvent?) -> SeasonNote {
        SeasonNote(
            season: entries.season, uid: draft.uid, said: draft.document.hashed, reopenedAt: event?.reopenedAt)
    }

    /// Updates the note, unless the event is over. A note is stored with a declaration, and the server refuses a
    /// declaration of an event that is over.
    private mutating func storeNote(_ write: Write) {
        guard let event = write.present, write.note != event.note, !event.state.isOver, validate(write) != nil else {
            return
        }
        notes.append(write)
    }

    /// Reads the declaration as the server does; `nil`: the server would refuse it.
    private mutating func validate(_ write: Write) -> Contract.EventDraft? {
        do throws(Problem) {
            return try write.document.declaration()
        } catch {
            let faults = error.errors.map { "\($0.pointer): \($0.detail)" }
            let detail = faults.isEmpty ? error.detail : faults.joined(separator: " ")
            problems.append(CalendarFault(line: write.line, detail, uid: write.uid))
            return nil
        }
    }

    /// Reports a calendar in which so many UIDs are new that its program probably makes new ones for each export.
    private mutating func reportNewUIDs() {
        let renewed = byUID.count { uid, event in !event.state.isOver && event.note?.uid != uid }
        guard renewed * 3 > byUID.values.count(where: { !$0.state.isOver }) else { return }
        problems.append(
            CalendarFault(
                line: nil,
                "\(renewed) entries have new UIDs, but the times and names of earlier ones: their events are kept, and no "
                    + "other ones are created. If the calendar gets new UIDs with each export, set uid in columns of the plan "
                    + "to a template of the date and the teams, such as {date} {home} {away}, or {dtstart} {home} {away} for "
                    + "iCalendar."))
    }

    private mutating func refuse(_ draft: EntryEvent, _ detail: String) {
        problems.append(CalendarFault(line: draft.line, detail, uid: draft.uid))
    }

    // MARK: Entries that are not in the file

    /// Cancels the events whose entries are missing. If so many are missing or cancelled at once that the file is
    /// probably broken, no event is cancelled.
    ///
    /// - Parameter taken: the keys of the file's entries.
    private mutating func cancelMissing(_ taken: Set<EventKey>) {
        let open = byUID.values.filter { $0.state == .scheduled && !$0.isKeptOpen }
            .sorted { $0.key.rawValue < $1.key.rawValue }
        let vanished = open.compactMap { event -> Write? in
            guard let note = event.note, !uids.contains(note.uid), !taken.contains(event.key) else { return nil }
            return cancellation(of: event, note, .vanished)
        }
        let going = cancel + vanished
        let future = Set(open.map(\.key)).union(cancel.map(\.key)).count
        let isMany = going.count * 3 > future
        // If the last run held cancellations back, this run also holds them back, even if new entries have made their
        // share smaller.
        if entries.acceptsManyRemovals {
            cancel = going
        } else if isMany || going.contains(where: { $0.present?.note?.removal == .heldBack }) {
            holdsBack = true
            cancel = []
            let why = isMany ? ", more than a third" : "; when this was first found, it was more than a third"
            reportHold(
                going.count, future,
                "\(why): none of them was cancelled. Check the file; --accept-removals cancels them.")
            for var write in going {
                write.note.removal = .heldBack
                storeNote(write)
            }
        } else if !vanished.isEmpty, entries.problems.contains(where: { $0.uid == nil }) {
            reportHold(
                vanished.count, future,
                ", and the UIDs of some entries cannot be read: none of the missing ones was cancelled. Correct them; "
                    + "--accept-removals cancels the missing events nevertheless.")
        } else {
            cancel = going
        }
    }

    private func cancellation(of event: PresentEvent, _ note: SeasonNote, _ reason: Reason, line: Int? = nil) -> Write {
        var note = note
        note.removal = .cancelled
        return Write(
            line: line, key: event.key, present: event, declaration: event.document, note: note, reason: reason)
    }

    private mutating func reportHold(_ count: Int, _ future: Int, _ finding: String) {
        let start = "\(count) of \(future) events to come are missing or cancelled in the calendar"
        problems.append(CalendarFault(line: nil, start + finding))
    }
}
