internal import Grandstand
internal import JSON

/// What an event stores about its calendar, in `metadata.season`.
struct SeasonNote: Sendable, Hashable {
    var season: SeasonName
    /// The UID of the event's entry in the calendar.
    var uid: String
    /// The event as the calendar had it in the last run.
    var said: EventDocument
    var removal: Removal?
    /// When the event was last reopened, as the API writes it; `nil`: never. The value comes from the last run in which
    /// the calendar had the event's entry and did not cancel it.
    var reopenedAt: String?

    enum Removal: String {
        /// The calendar cancelled the event, or no longer had the event's entry.
        case cancelled
        /// The same, but the event was not cancelled, because too many events were affected.
        case heldBack
    }
}

extension SeasonNote {
    /// - Parameter metadata: an event's metadata as JSON.
    /// - Returns: `nil`: the event belongs to no season.
    init?(metadata: [UInt8]?) {
        guard let metadata, let json = try? JSONValue(parsing: metadata), let note = json["season"],
            let name = note["name"]?.string.flatMap(SeasonName.init(rawValue:)), let uid = note["uid"]?.string,
            let said = note["said"].flatMap({ try? JSONValue(parsing: $0.compact) })
        else { return nil }
        self.init(
            season: name, uid: uid, said: EventDocument(said),
            removal: note["removal"]?.string.flatMap(Removal.init(rawValue:)), reopenedAt: note["reopenedAt"]?.string)
    }

    /// The metadata with this note. Its other members stay.
    func metadata(in present: [UInt8]?) -> [UInt8] {
        var metadata = present.flatMap { try? JSONValue(parsing: $0) }.map { EventDocument($0) } ?? EventDocument()
        metadata["season"] = JSONWriter.text { object in
            object.member("name", season.rawValue)
            object.member("uid", uid)
            object.member("said", raw: said.text)
            if let removal { object.member("removal", removal.rawValue) }
            if let reopenedAt { object.member("reopenedAt", reopenedAt) }
        }
        return metadata.text
    }
}

extension EventDocument {
    /// The document as a note stores it: long members become hashes, because they are only compared.
    var shortened: EventDocument {
        var short = self
        for name in names {
            guard let value = self[name], value.count > 256 else { continue }
            short[name] = Array(#"{"hash":\#(EntityTag(of: value).text)}"#.utf8)
        }
        return short
    }

    /// The time and name of a shortened document. Two entries with the same values are probably the same fixture.
    var occasion: [[UInt8]?] { [self["startsAt"], self["name"]] }
}

/// An event as it is now, with its note.
struct SeasonEvent: Sendable {
    var key: EventKey
    var document: EventDocument
    var state: Contract.EventState
    /// When the event was last reopened; `nil`: never.
    var reopenedAt: String?
    /// `nil`: the event belongs to no season.
    var note: SeasonNote?
}

extension SeasonEvent {
    /// - Parameter shown: an event as the API returns it.
    /// - Returns: `nil`: the value is not an event.
    init?(shown: JSONValue) {
        guard let key = shown["key"]?.string.flatMap(EventKey.init(rawValue:)),
            let state = shown["state"]?.string.map(Contract.EventState.init(rawValue:))
        else { return nil }
        let document = EventDocument(shown: shown)
        self.init(
            key: key, document: document, state: state, reopenedAt: shown["reopenedAt"]?.string,
            note: SeasonNote(metadata: document["metadata"]))
    }

    /// Whether the event was reopened after the last run in which the calendar had the event's entry and did not cancel
    /// it. If so, runs do not cancel the event until the calendar has such an entry again.
    var isKeptOpen: Bool { reopenedAt != note?.reopenedAt }
}
