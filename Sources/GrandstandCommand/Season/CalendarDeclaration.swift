internal import Foundation
internal import Grandstand
internal import JSON

/// An organiser's plan of a season: how its calendar is read, and which events its entries become.
struct CalendarDeclaration: Sendable {
    var season: SeasonName
    /// A file or URL; `nil`: the command names one.
    var source: String?
    var reading: CalendarReading
    /// `nil`: it is no template, which is a fault of the plan.
    var eventKey: Template?
    var name: Template?
    var topics: [Template]
    /// The duration in seconds of an event that has no end in the calendar.
    var defaultDuration: Int?
    /// Members of each event that are the same for all of them: `kind`, `channelsOpenBefore`, `audiences`, `defaults`.
    var common = EventDocument()
    /// The start of each event. Every string in it is a template.
    var start: JSONValue?

    /// An entry without an end counts as past this many seconds after its start.
    private static let longestWithoutEnd: TimeInterval = 43_200

    /// Makes an event from a calendar entry.
    ///
    /// - Throws: if a template has no value, or makes an invalid key or topic.
    func draft(_ entry: CalendarEntry) throws(CalendarFault) -> CalendarDraft {
        func fault(_ detail: String) -> CalendarFault { CalendarFault(line: entry.line, detail, uid: entry.uid) }
        func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }
        let startsAt = entry.startsAt.map(date)
        let endsAt = entry.endsAt.map(date) ?? defaultDuration.flatMap { startsAt?.addingTimeInterval(Double($0)) }
        var missing = ""
        func value(_ name: String) -> String? {
            let text: String? =
                switch name {
                case "uid": entry.uid
                case "startsAt": startsAt.map(RFC3339.text)
                case "endsAt": endsAt.map(RFC3339.text)
                default: entry.value(name)
                }
            if let text, !text.isEmpty { return text }
            missing = name
            return nil
        }
        func complete<Filled>(_ filled: Filled?) throws(CalendarFault) -> Filled {
            guard let filled else { throw fault("This entry has no value for “\(missing)”, which a template needs.") }
            return filled
        }
        func folded(_ template: Template?) throws(CalendarFault) -> String {
            try complete(
                template?.filled { name in
                    let text = value(name).map(KeyText.folded) ?? ""
                    if text.isEmpty { missing = name }
                    return text.isEmpty ? nil : text
                })
        }
        let keyText = try folded(eventKey)
        guard let key = EventKey(rawValue: keyText) else {
            throw fault("“\(keyText.prefix(200))” is not a valid event key. \(EventKey.rule)")
        }
        var topicNames: [String] = []
        for template in topics {
            let topic = try folded(template)
            guard Topic(rawValue: topic) != nil else {
                throw fault("“\(topic.prefix(200))” is not a valid topic. \(Topic.rule)")
            }
            if !topicNames.contains(topic) { topicNames.append(topic) }
        }
        var document = common
        document.set("name", try complete(name?.filled(value)))
        if !topicNames.isEmpty {
            document["topics"] = JSONWriter.text(topicNames)
        }
        if let startsAt, entry.status != .postponed {
            document.set("startsAt", RFC3339.text(startsAt))
            if let endsAt { document.set("endsAt", RFC3339.text(endsAt)) }
            if let start { document["start"] = try complete(start.filled(value)) }
        } else if document["channelsOpenBefore"] == nil {
            // Without `startsAt` its channels wait only if they are to open before it.
            document["channelsOpenBefore"] = Array("0".utf8)
        }
        return CalendarDraft(
            line: entry.line, uid: entry.uid, key: key, document: document, isCancelled: entry.status == .cancelled,
            pastAt: entry.status == .postponed
                ? nil : endsAt ?? startsAt?.addingTimeInterval(Self.longestWithoutEnd))
    }
}

/// An event made from a calendar entry, before it is stored.
struct CalendarDraft: Sendable {
    var line: Int
    var uid: String
    /// The key for a new event. An event that exists already keeps its key.
    var key: EventKey
    var document: EventDocument
    var isCancelled: Bool
    /// When the event's end, or its assumed end, is in the past; `nil`: its time is unknown.
    var pastAt: Date?
}
