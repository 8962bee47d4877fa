internal import Foundation
package import Grandstand

/// The changes that a calendar makes to its season's events. They depend only on the entries, the time, and the present
/// events with their notes (`SeasonNote`). A note has the event as the calendar had it in the last run.
///
/// An event's member is changed only if the calendar has changed it since the last run. So changes that people made
/// stay.
package struct CalendarPlan: Sendable {
    package private(set) var create: [Write] = []
    package private(set) var change: [Write] = []
    package private(set) var cancel: [Cancellation] = []
    /// Events in which only the `SeasonNote` changes.
    package private(set) var notes: [Write] = []
    package private(set) var unchanged = 0
    /// Entries of past fixtures that have no event.
    package private(set) var past = 0
    package private(set) var problems: [CalendarProblem]
    package private(set) var shrinkage: Shrinkage?

    package init(_ request: Request, _ situation: Situation, documents: EventDocuments) {
        problems = request.problems
        var known = situation.known
        Self.inherit(request, &known)
        let taken = Dictionary(known.map { ($0.value.key, $0.key) }) { one, _ in one }
        var seen: [EventKey: CalendarDraft] = [:]
        for draft in request.drafts {
            let key = known[draft.uid]?.key ?? draft.key
            if let other = seen.updateValue(draft, forKey: key) {
                seen[key] = other
                refuse(
                    draft, "The entry on line \(other.line) already makes the event \(key). The first entry is used.")
            } else if let uid = taken[key], uid != draft.uid {
                refuse(draft, "The event \(key) belongs to another entry. Change eventKey so that keys differ.")
            } else {
                consider(draft, known[draft.uid], situation, documents)
            }
        }
        sweep(request, known)
        for list in [\CalendarPlan.create, \.change, \.notes] { refuseTooLong(list, documents.maximumBytes) }
    }

    /// Whether there is nothing to write.
    package var isEmpty: Bool { create.isEmpty && change.isEmpty && cancel.isEmpty && notes.isEmpty }

    // MARK: Entries of the file

    /// If an entry has a new UID, but makes the key of an event whose UID is no longer in the file, the entry takes
    /// over that event.
    private static func inherit(_ request: Request, _ known: inout [String: SeasonEvent]) {
        let here = Set(request.drafts.map(\.uid)).union(request.problems.compactMap(\.uid))
        var left: [EventKey: String] = [:]
        for (uid, event) in known where !here.contains(uid) { left[event.key] = uid }
        for draft in request.drafts where known[draft.uid] == nil {
            guard let old = left.removeValue(forKey: draft.key) else { continue }
            known[draft.uid] = known.removeValue(forKey: old)
        }
    }

    private mutating func consider(
        _ draft: CalendarDraft, _ known: SeasonEvent?, _ situation: Situation, _ documents: EventDocuments
    ) {
        let key = known?.key ?? draft.key
        if situation.outOfReach.contains(key) {
            return refuse(draft, "The event \(key) also has audiences of apps that your key cannot access.")
        }
        guard let event = situation.events[key] else {
            if draft.isCancelled || draft.isPast(situation.now) {
                past += 1
            } else if read(key, draft.document, draft, documents) != nil {
                var write = Write(line: draft.line, uid: draft.uid, key: key, document: draft.document)
                write.document["metadata"] = noted(draft, situation, nil).metadata(in: nil)
                create.append(write)
            }
            return
        }
        if let other = event.note?.season, other != situation.season {
            return refuse(
                draft, "The event \(key) belongs to the season \(other). Change eventKey so that keys differ.")
        }
        if draft.isCancelled { return consider(cancelled: draft, event, known, situation) }
        if event.state.isOver, !event.seemsExpired {
            if event.state == .cancelled, known?.note?.isCancelled ?? false, !draft.isPast(situation.now) {
                return refuse(
                    draft,
                    "The event \(key) was cancelled by this calendar, but is in it again. "
                        + "`grandstand event reopen \(key)` reopens it.")
            }
            unchanged += 1
            return
        }
        let names = known?.note?.differences(in: draft.document) ?? draft.document.names
        var merged = event.document.taking(names, from: draft.document)
        // An event has either `channelsOpenBefore` or `channelsOpenAt`, not both. The calendar's new value replaces the
        // old one.
        if names.contains("channelsOpenBefore"), merged["channelsOpenBefore"] != nil { merged["channelsOpenAt"] = nil }
        var fields: [Field] = []
        if !names.isEmpty {
            guard let specification = read(key, merged, draft, documents) else { return }
            if !event.state.isOver || specification.reaches(beyond: situation.now) {
                let after = documents.document(of: specification)
                fields = after.differences(from: event.document)
                    .filter { names.contains($0) || $0 == "channelsOpenAt" }
                    .map { Field(name: $0, old: event.document[$0], new: after[$0]) }
            }
        }
        guard !fields.isEmpty else {
            unchanged += 1
            return remember(noted(draft, situation, event), of: event, line: draft.line)
        }
        merged["metadata"] = noted(draft, situation, event).metadata(in: event.document["metadata"])
        change.append(
            Write(line: draft.line, uid: draft.uid, key: key, present: event, document: merged, fields: fields))
    }

    private mutating func consider(
        cancelled draft: CalendarDraft, _ event: SeasonEvent, _ known: SeasonEvent?, _ situation: Situation
    ) {
        // Keep the last known state of the entry, so that later changes are noticed.
        var note = known?.note ?? noted(draft, situation, nil)
        note.uid = draft.uid
        note.isMissing = false
        // An event that is already over, or that somebody has reopened, is not cancelled.
        if event.state.isOver || event.isKeptOpen {
            unchanged += 1
            return remember(note, of: event, line: draft.line)
        }
        guard event.state == .scheduled else {
            if known != nil { remember(note, of: event, line: draft.line) }
            return refuse(
                draft,
                "The calendar cancels the event \(event.key), but it has begun. `grandstand event cancel \(event.key)` "
                    + "cancels it.")
        }
        note.isCancelled = true
        cancel.append(
            Cancellation(line: draft.line, uid: draft.uid, event: event, reason: .cancelled, note: note))
    }

    /// The note for an entry that the calendar does not cancel.
    ///
    /// - Parameter event: the entry's event; `nil`: there is no event yet.
    private func noted(_ draft: CalendarDraft, _ situation: Situation, _ event: SeasonEvent?) -> SeasonNote {
        SeasonNote(season: situation.season, uid: draft.uid, said: draft.document, reopenedAt: event?.reopenedAt)
    }

    /// Updates the note, unless the event is over. A note is stored with a declaration, and the server refuses a
    /// declaration of an event that is over.
    private mutating func remember(_ note: SeasonNote, of event: SeasonEvent, line: Int?) {
        guard note != event.note, !event.state.isOver else { return }
        notes.append(
            Write(line: line, uid: note.uid, key: event.key, present: event, document: event.document(with: note)))
    }

    private mutating func read(
        _ key: EventKey, _ document: EventDocument, _ draft: CalendarDraft, _ documents: EventDocuments
    ) -> EventSpecification? {
        do throws(Problem) {
            return try documents.read(key, document)
        } catch {
            let faults = error.errors.map { "\($0.pointer): \($0.detail)" }
            refuse(draft, faults.isEmpty ? error.detail : faults.joined(separator: " "))
            return nil
        }
    }

    /// Removes writes that are too long for the server, and reports them as problems.
    private mutating func refuseTooLong(_ list: WritableKeyPath<CalendarPlan, [Write]>, _ limit: Int) {
        for write in self[keyPath: list] where write.document.text.count > limit {
            let note = SeasonNote(metadata: write.document["metadata"])?.metadata(in: nil).count ?? 0
            problems.append(
                CalendarProblem(
                    line: write.line,
                    detail: "The event \(write.key) would have \(write.document.text.count) bytes of JSON, \(note) of "
                        + "them in metadata.season. The limit is \(limit). Shorten audiences, start or other metadata.",
                    uid: write.uid))
        }
        self[keyPath: list].removeAll { $0.document.text.count > limit }
    }

    private mutating func refuse(_ draft: CalendarDraft, _ detail: String) {
        problems.append(CalendarProblem(line: draft.line, detail: detail, uid: draft.uid))
    }

    // MARK: Entries that are not in the file

    /// Cancels the events whose entries are missing. If so many are missing or cancelled at once that the file is
    /// probably broken, no event is cancelled.
    private mutating func sweep(_ request: Request, _ known: [String: SeasonEvent]) {
        let here = Set(request.drafts.map(\.uid)).union(request.problems.compactMap(\.uid))
        let told = cancel
        var vanished: [Cancellation] = []
        var future = told.count { known[$0.uid] == nil }
        for (uid, event) in known.sorted(by: { $0.key < $1.key }) where event.state == .scheduled && !event.isKeptOpen {
            future += 1
            guard !here.contains(uid), var note = event.note else { continue }
            note.isMissing = false
            note.isCancelled = true
            vanished.append(Cancellation(uid: uid, event: event, reason: .vanished, note: note))
        }
        guard !request.acceptsRemovals else {
            cancel += vanished
            return
        }
        let going = told + vanished
        let isMany = going.count * 3 > future
        // If the last run held cancellations back, this run also holds them back, even if new entries have made their
        // share smaller.
        if isMany || going.contains(where: { $0.event.note?.isMissing ?? false }) {
            shrinkage = Shrinkage(vanished: going.count, future: future)
            cancel = []
            let why = isMany ? ", more than a third" : "; when this was first found, it was more than a third"
            hold(
                "\(Self.finding(told.count, vanished.count, future))\(why): none of them was cancelled. Check the file; "
                    + "--accept-removals cancels them.")
            for cancellation in going {
                var note = cancellation.note
                note.isMissing = true
                note.isCancelled = false
                remember(note, of: cancellation.event, line: cancellation.line)
            }
        } else if !vanished.isEmpty, request.problems.contains(where: { $0.uid == nil }) {
            hold(
                Self.finding(0, vanished.count, future)
                    + ", and the UIDs of some entries cannot be read: none of them was cancelled. Correct them; "
                    + "--accept-removals cancels the missing events nevertheless.")
        } else {
            cancel += vanished
        }
    }

    private mutating func hold(_ finding: String) {
        problems.append(CalendarProblem(line: nil, detail: finding, uid: nil))
    }

    private static func finding(_ told: Int, _ vanished: Int, _ future: Int) -> String {
        let fate =
            switch (told, vanished) {
            case (0, _): "are missing in the calendar"
            case (_, 0): "are cancelled in the calendar"
            default: "are missing or cancelled in the calendar"
            }
        return "\(told + vanished) of \(future) events to come \(fate)"
    }
}
