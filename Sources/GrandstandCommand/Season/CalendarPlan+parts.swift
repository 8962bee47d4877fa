internal import Foundation
internal import Grandstand

extension CalendarPlan {
    /// The entries of a file, and how they may be applied.
    struct Request: Sendable {
        var season: SeasonName
        var drafts: [CalendarDraft] = []
        /// The entries that could not be read.
        var problems: [CalendarFault]
        /// Whether to cancel events even if unusually many are missing in the file.
        var acceptsRemovals: Bool

        /// Reads a file into drafts. Entries that fail become `problems`.
        ///
        /// - Parameter zone: the time zone for times whose zone is missing or unknown on this machine. It takes
        ///   precedence over the plan's.
        /// - Throws: only if the whole file cannot be read.
        init(
            _ file: [UInt8], _ declaration: CalendarDeclaration, in zone: TimeZone? = nil, acceptsRemovals: Bool
        ) throws(CalendarFault) {
            var reading = declaration.reading
            reading.fallback = zone
            let file = try reading.read(file)
            season = declaration.season
            problems = file.faults
            self.acceptsRemovals = acceptsRemovals
            for entry in file.entries {
                do throws(CalendarFault) {
                    drafts.append(try declaration.draft(entry))
                } catch {
                    problems.append(error)
                }
            }
        }

        /// The UIDs of all entries, also of those that could not be read.
        var uids: Set<String> { Set(drafts.map(\.uid)).union(problems.compactMap(\.uid)) }

        /// The season's events by the UID of their entry. An entry with a new UID gets the event to which the calendar
        /// gave the same time and name, if that event's own entry is gone: some programs make new UIDs for each export.
        func known(in events: [EventKey: SeasonEvent]) -> [String: SeasonEvent] {
            var known = Dictionary(
                events.values.compactMap { event in
                    event.note.flatMap { $0.season == season ? ($0.uid, event) : nil }
                }, uniquingKeysWith: { $0.key.rawValue < $1.key.rawValue ? $0 : $1 })
            let keys = Set(drafts.map(\.key))
            let gone = Set(known.keys).subtracting(uids).compactMap { known[$0] }
                .filter { $0.state != .cancelled && !keys.contains($0.key) }
                .sorted { $0.key.rawValue > $1.key.rawValue }
            var free = Dictionary(grouping: gone) { $0.note?.said.occasion }
            for draft in drafts where known[draft.uid] == nil && events[draft.key] == nil {
                guard let event = free[draft.document.shortened.occasion]?.popLast() else { continue }
                if let uid = event.note?.uid { known[uid] = nil }
                known[draft.uid] = event
            }
            return known
        }

        /// The keys of new entries. Events may exist that have these keys.
        func newKeys(beside events: [EventKey: SeasonEvent]) -> Set<EventKey> {
            let known = known(in: events)
            return Set(drafts.filter { known[$0.uid] == nil }.map(\.key)).subtracting(events.keys)
        }
    }

    /// The present events, and the other values that the plan depends on.
    struct Situation: Sendable {
        /// The season's events, and other events that have the key of a draft.
        var events: [EventKey: SeasonEvent] = [:]
        var now: Date
    }

    /// An event to be created, changed or cancelled.
    struct Write: Sendable {
        /// The line of its entry; `nil`: the file has no entry.
        var line: Int?
        var key: EventKey
        /// The present event; `nil`: it does not exist.
        var present: SeasonEvent?
        /// The complete new declaration, without the new note.
        var declaration: EventDocument
        /// The new note.
        var note: SeasonNote
        /// The members that change, with old and new value. The note is left out.
        var fields: [Field] = []
        /// Why the event is cancelled.
        var reason: Reason?

        var uid: String { note.uid }

        /// The complete new declaration, with the new note.
        var document: EventDocument {
            var document = declaration
            document["metadata"] = note.metadata(in: document["metadata"])
            return document
        }
    }

    /// A member that changes. A value that is `nil` is absent.
    struct Field: Sendable {
        var name: String
        var old: [UInt8]?
        var new: [UInt8]?
    }

    enum Reason: String {
        case cancelled
        /// The file no longer has the entry.
        case vanished
    }
}
