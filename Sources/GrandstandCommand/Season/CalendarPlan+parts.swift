internal import Foundation
internal import Grandstand
internal import JSON

extension CalendarPlan {
    /// The entries of a file, and how they may be applied.
    struct Entries: Sendable {
        var season: String
        var drafts: [EntryEvent] = []
        /// The entries that could not be read.
        var problems: [CalendarFault]
        /// Whether to cancel events even if unusually many are missing in the file.
        var acceptsManyRemovals: Bool

        /// Reads a file into drafts. Entries that fail become `problems`.
        ///
        /// - Parameter zone: the time zone for times whose zone is missing or unknown on this machine. It takes
        ///   precedence over the plan's.
        /// - Throws: only if the whole file cannot be read.
        init(
            _ file: [UInt8], _ declaration: CalendarDeclaration, in zone: TimeZone? = nil, acceptsManyRemovals: Bool
        ) throws(CalendarFault) {
            var reading = declaration.reading
            reading.commandZone = zone
            let file = try reading.read(file)
            season = declaration.season
            problems = file.faults
            self.acceptsManyRemovals = acceptsManyRemovals
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
        func byUID(in events: [EventKey: PresentEvent]) -> [String: PresentEvent] {
            var known = Dictionary(
                events.values.compactMap { event in
                    event.note.flatMap { $0.season == season ? ($0.uid, event) : nil }
                }, uniquingKeysWith: { $0.key.rawValue < $1.key.rawValue ? $0 : $1 })
            let keys = Set(drafts.map(\.key))
            let gone = Set(known.keys).subtracting(uids).compactMap { known[$0] }
                .filter { $0.state != .cancelled && !keys.contains($0.key) }
                .sorted { $0.key.rawValue > $1.key.rawValue }
            var free = Dictionary(grouping: gone) { $0.note?.said.timeAndName }
            for draft in drafts where known[draft.uid] == nil && events[draft.key] == nil {
                guard let event = free[draft.document.hashed.timeAndName]?.popLast() else { continue }
                if let uid = event.note?.uid { known[uid] = nil }
                known[draft.uid] = event
            }
            return known
        }

        /// The keys of new entries. Events may exist that have these keys.
        func newKeys(beside events: [EventKey: PresentEvent]) -> Set<EventKey> {
            let known = byUID(in: events)
            return Set(drafts.filter { known[$0.uid] == nil }.map(\.key)).subtracting(events.keys)
        }
    }

    /// An event to be created, changed or cancelled.
    struct Write: Sendable {
        /// The line of its entry; `nil`: the file has no entry.
        var line: Int?
        var key: EventKey
        /// The present event; `nil`: it does not exist.
        var present: PresentEvent?
        /// The complete new declaration, without the new note.
        var declaration: JSONDraft
        /// The new note.
        var note: SeasonNote
        /// The members that change, with old and new value; `nil`: it is absent. The note is left out.
        var fields: [(name: String, old: [UInt8]?, new: [UInt8]?)] = []
        /// Why the event is cancelled.
        var reason: Reason?

        var uid: String { note.uid }

        /// The complete new declaration, with the new note.
        var document: JSONDraft {
            var document = declaration
            document["metadata"] = note.metadata(in: document["metadata"])
            return document
        }
    }

    enum Reason: String {
        case cancelled
        /// The file no longer has the entry.
        case vanished
    }
}

extension CalendarPlan {
    /// The report on what a run changed or would change, as JSON.
    var report: [UInt8] {
        JSONWriter.text { object in
            for (name, writes) in [("create", create), ("change", change), ("cancel", cancel)] {
                object.name(dynamic: name)
                object.array(writes) { json, write in json.object { write.write(to: &$0) } }
            }
            object.member("unchanged", unchanged)
            object.member("past", past)
            object.member("problems", problems)
        }
    }
}

extension CalendarPlan.Write {
    fileprivate func write(to object: inout JSONWriter) {
        object.member("eventKey", key.rawValue)
        object.member("uid", uid)
        object.member("name", raw: declaration["name"])
        object.member("startsAt", raw: declaration["startsAt"])
        if !fields.isEmpty {
            object.object("fields") { object in
                for field in fields {
                    object.name(dynamic: field.name)
                    object.array([field.old, field.new]) { $0.raw($1 ?? Array("null".utf8)) }
                }
            }
        }
        if let reason { object.member("reason", reason.rawValue) }
    }
}

/// What an event stores about its calendar, in `metadata.season`.
struct SeasonNote: Codable, Sendable, Hashable {
    var season: String
    /// The UID of the event's entry in the calendar.
    var uid: String
    /// The event as the calendar had it in the last run.
    var said: JSONDraft
    var removal: Removal?
    /// When the event was last reopened, as the API writes it; `nil`: never. The value comes from the last run in which
    /// the calendar had the event's entry and did not cancel it.
    var reopenedAt: String?

    enum Removal: String, Codable {
        /// The calendar cancelled the event, or no longer had the event's entry.
        case cancelled
        /// The same, but the event was not cancelled, because too many events were affected.
        case heldBack
    }

    private enum CodingKeys: String, CodingKey {
        case season = "name"
        case uid, said, removal, reopenedAt
    }
}

extension SeasonNote {
    /// - Parameter metadata: an event's metadata as JSON.
    /// - Returns: `nil`: the event belongs to no season.
    init?(metadata: [UInt8]?) {
        guard let metadata, let json = try? JSONValue(parsing: metadata),
            let note = try? json["season"]?.decode(SeasonNote.self)
        else { return nil }
        self = note
    }

    /// The metadata with this note. Its other members stay.
    func metadata(in present: [UInt8]?) -> [UInt8] {
        var metadata = present.flatMap { try? JSONDraft(JSONValue(parsing: $0)) } ?? JSONDraft()
        metadata["season"] = JSONWriter.text(self)
        return metadata.text
    }
}

extension JSONDraft {
    /// The document as a note stores it: long members become hashes, because they are only compared.
    var hashed: JSONDraft {
        var short = self
        for name in names {
            guard let value = self[name], value.count > 256 else { continue }
            short[name] = Array(#"{"hash":\#(EntityTag(of: value).text)}"#.utf8)
        }
        return short
    }

    /// The time and name of a shortened document. Two entries with the same values are probably the same fixture.
    var timeAndName: [[UInt8]?] { [self["startsAt"], self["name"]] }
}

/// An event as it is now, with its note.
struct PresentEvent: Sendable {
    var key: EventKey
    var document: JSONDraft
    var state: Contract.EventState
    /// When the event was last reopened; `nil`: never.
    var reopenedAt: String?
    /// `nil`: the event belongs to no season.
    var note: SeasonNote?
}

extension PresentEvent {
    /// - Parameter shown: an event as the API returns it.
    /// - Returns: `nil`: the value is not an event.
    init?(shown: JSONValue) {
        guard let key = shown["key"]?.string.flatMap(EventKey.init(rawValue:)),
            let state = shown["state"]?.string.map(Contract.EventState.init(rawValue:))
        else { return nil }
        let document = JSONDraft(event: shown)
        self.init(
            key: key, document: document, state: state, reopenedAt: shown["reopenedAt"]?.string,
            note: SeasonNote(metadata: document["metadata"]))
    }

    /// Whether the event was reopened after the last run in which the calendar had the event's entry and did not cancel
    /// it. If so, runs do not cancel the event until the calendar has such an entry again.
    var isKeptOpen: Bool { reopenedAt != note?.reopenedAt }
}
