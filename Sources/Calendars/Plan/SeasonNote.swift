package import Foundation
package import Grandstand
package import JSON

/// What an event stores about its calendar, in `metadata.season`: `{"name", "uid", "said"}`.
package struct SeasonNote: Sendable, Hashable {
    package var season: SeasonName
    /// The UID of the event's entry in the calendar.
    package var uid: String
    /// The event as the calendar had it in the last run. Long members are stored as hashes, because they are only
    /// compared. If a member differs in the next file, only that member is changed.
    package let said: EventDocument
    /// Whether the last file lacked or cancelled the entry, but the event was not cancelled, because too many events
    /// were affected.
    package var isMissing: Bool
    /// Whether the calendar cancelled the event, or no longer had the event's entry.
    package var isCancelled: Bool
    /// When the event was last reopened; `nil`: never. The value comes from the last run in which the calendar had the
    /// event's entry and did not cancel it.
    package var reopenedAt: Date?

    package init(
        season: SeasonName, uid: String, said: EventDocument, isMissing: Bool = false, isCancelled: Bool = false,
        reopenedAt: Date? = nil
    ) {
        self.season = season
        self.uid = uid
        self.said = Self.shortened(said)
        self.isMissing = isMissing
        self.isCancelled = isCancelled
        self.reopenedAt = reopenedAt
    }

    /// The members of the entry's event that the calendar has changed since the last run.
    package func differences(in document: EventDocument) -> [String] {
        Self.shortened(document).differences(from: said)
    }

    /// The most bytes of a member that is stored unchanged.
    private static let maximumMember = 256

    private static func shortened(_ document: EventDocument) -> EventDocument {
        var short = document
        for name in document.names {
            guard let value = document[name], value.count > maximumMember else { continue }
            short[name] = Array(#"{"hash":\#(EntityTag(of: value).text)}"#.utf8)
        }
        return short
    }

    /// Members of `said` that are not members of the event.
    private enum Name {
        static let missing = "missing"
        static let cancelled = "cancelled"
        static let reopenedAt = "reopenedAt"
    }

    /// - Parameter metadata: an event's metadata as JSON.
    /// - Returns: `nil`: the event belongs to no season.
    package init?(metadata: [UInt8]?) {
        guard let metadata, let json = try? JSONValue(parsing: metadata), let season = json["season"],
            let name = season["name"]?.string.flatMap(SeasonName.init(rawValue:)), let uid = season["uid"]?.string,
            let said = season["said"].flatMap({ try? JSONValue(parsing: $0.compact) })
        else { return nil }
        var document = EventDocument(said)
        for name in [Name.missing, Name.cancelled, Name.reopenedAt] { document[name] = nil }
        self.init(
            season: name, uid: uid, said: document, isMissing: said[Name.missing] != nil,
            isCancelled: said[Name.cancelled] != nil,
            reopenedAt: said[Name.reopenedAt]?.string.flatMap(RFC3339.date))
    }

    /// The metadata with this note. Its other members stay.
    package func metadata(in present: [UInt8]?) -> [UInt8] {
        var said = said
        if isMissing { said[Name.missing] = Array("true".utf8) }
        if isCancelled { said[Name.cancelled] = Array("true".utf8) }
        if let reopenedAt { said.set(Name.reopenedAt, RFC3339.text(reopenedAt)) }
        var metadata = present.flatMap { try? JSONValue(parsing: $0) }.map { EventDocument($0) } ?? EventDocument()
        metadata["season"] = JSONWriter.text { object in
            object.member("name", season.rawValue)
            object.member("uid", uid)
            object.member("said", raw: said.text)
        }
        return metadata.text
    }
}

/// An event as it is now, with its note.
package struct SeasonEvent: Sendable, Hashable {
    package var key: EventKey
    package var document: EventDocument
    package var state: Event.State
    package var createdAt: Date
    package var updatedAt: Date
    /// When the event was last reopened; `nil`: never.
    package var reopenedAt: Date?
    /// `nil`: the event belongs to no season.
    package var note: SeasonNote?

    package init(
        key: EventKey, document: EventDocument, state: Event.State, createdAt: Date, updatedAt: Date,
        reopenedAt: Date? = nil
    ) {
        self.key = key
        self.document = document
        self.state = state
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.reopenedAt = reopenedAt
        note = SeasonNote(metadata: document["metadata"])
    }

    /// - Parameter shown: an event as the API returns it.
    /// - Returns: `nil`: the value is not an event.
    package init?(shown: JSONValue) {
        guard let key = shown["key"]?.string.flatMap(EventKey.init(rawValue:)),
            let state = shown["state"]?.string.flatMap(Event.State.init(rawValue:)),
            let createdAt = shown["createdAt"]?.string.flatMap(RFC3339.date),
            let updatedAt = shown["updatedAt"]?.string.flatMap(RFC3339.date)
        else { return nil }
        self.init(
            key: key, document: EventDocument(shown: shown), state: state, createdAt: createdAt, updatedAt: updatedAt,
            reopenedAt: shown["reopenedAt"]?.string.flatMap(RFC3339.date))
    }

    /// The declaration with another note.
    package func document(with note: SeasonNote) -> EventDocument {
        var document = document
        document["metadata"] = note.metadata(in: document["metadata"])
        return document
    }

    /// Whether the event was reopened after the last run in which the calendar had the event's entry and did not cancel
    /// it. If so, runs do not cancel the event until the calendar has such an entry again.
    var isKeptOpen: Bool { reopenedAt != note?.reopenedAt }

    /// Whether the event probably expired: the server ends an event without an `end` long after its `endsAt`. An event
    /// that is over cannot be declared again, so `updatedAt` of an ended event is the time when the event ended. The
    /// result is only a guess: the server decides whether the event opens again.
    var seemsExpired: Bool {
        guard state == .ended else { return false }
        if let endsAt = date("endsAt") { return updatedAt >= endsAt.addingTimeInterval(ChannelTenure.overdueAfter) }
        return updatedAt > date("startsAt") ?? createdAt
    }

    private func date(_ member: String) -> Date? {
        document[member].flatMap { try? JSONValue(parsing: $0) }?.string.flatMap(RFC3339.date)
    }
}
