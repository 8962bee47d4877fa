package import Foundation
package import Grandstand
package import JSON

/// An organiser's plan of a season: how its calendar is read, and which events its entries become.
package struct CalendarDeclaration: Sendable {
    package var season: SeasonName
    /// A file or URL; `nil`: the command names one.
    package var source: String?
    package var format: CalendarReading.Format
    /// The time zone for times in the file that have none.
    package var timeZone: TimeZone?
    package var eventKey: Template
    package var name: Template
    package var topics: [Template]
    package var columns: [String: String]
    package var datePattern: DatePattern
    /// The duration in seconds of an event that has no end in the calendar.
    package var defaultDuration: Int?
    /// Members of each event that are the same for all of them: `kind`, `channelsOpenBefore`, `audiences`, `defaults`.
    package var common: EventDocument
    /// The start of each event. Every string in it is a template.
    package var start: JSONValue?

    /// An entry without an end counts as past this many seconds after its start.
    static let longestWithoutEnd: TimeInterval = 43_200

    /// The most bytes that all templates together may copy from one entry. A start has at most 4 KB, a name less.
    static let maximumFilledBytes = 65_536

    /// Names that templates can use although they are not columns of the file.
    private static let builtInNames: Set = ["uid", "startsAt", "endsAt"]

    /// How a file is read.
    ///
    /// - Parameter zone: the time zone for times whose zone is missing or unknown on this machine. It takes precedence
    ///   over `timeZone`.
    package func reading(in zone: TimeZone? = nil) -> CalendarReading {
        var names = eventKey.names.union(name.names)
        for topic in topics { names.formUnion(topic.names) }
        if let start { names.formUnion(start.templateNames) }
        return CalendarReading(
            format: format, columns: columns, datePattern: datePattern, timeZone: timeZone,
            names: names.subtracting(Self.builtInNames), fallback: zone)
    }

    /// Makes an event from a calendar entry.
    ///
    /// - Throws: if a template has no value, the templates take too many bytes, or they make an invalid key or topic.
    package func draft(_ entry: CalendarEntry) throws(CalendarFault) -> CalendarDraft {
        let startsAt = Date(timeIntervalSince1970: Double(entry.startsAt))
        let end = entry.endsAt ?? defaultDuration.map { entry.startsAt + $0 }
        let endsAt = end.map { Date(timeIntervalSince1970: Double($0)) }
        // When all templates together would copy more than `maximumFilledBytes`, nothing more is copied, and the entry
        // is refused.
        var filledBytes = 0
        let value: (String) -> String? = { name in
            let text: String? =
                switch name {
                case "uid": entry.uid
                case "startsAt": RFC3339.text(startsAt)
                case "endsAt": endsAt.map(RFC3339.text)
                default: entry.values[name].flatMap { $0.isEmpty ? nil : $0 }
                }
            filledBytes += text?.utf8.count ?? 0
            return filledBytes > Self.maximumFilledBytes ? text.map { _ in "" } : text
        }
        func filled(_ fill: () throws(Template.Missing) -> String) throws(CalendarFault) -> String {
            let text: String
            do throws(Template.Missing) {
                text = try fill()
            } catch {
                throw CalendarFault(
                    line: entry.line, "This entry has no value for “\(error.name)”, which a template needs.",
                    uid: entry.uid)
            }
            guard filledBytes <= Self.maximumFilledBytes else {
                throw CalendarFault(
                    line: entry.line,
                    "The templates take more than \(Self.maximumFilledBytes) bytes from this entry; shorten them.",
                    uid: entry.uid)
            }
            return text
        }
        let folded: (String) -> String? = { value($0).map(KeyText.folded).flatMap { $0.isEmpty ? nil : $0 } }
        let keyText = try filled { () throws(Template.Missing) in try eventKey.filled(folded) }
        guard let key = EventKey(rawValue: keyText) else {
            throw CalendarFault(
                line: entry.line, "“\(keyText.prefix(200))” is not a valid event key. \(EventKey.rule)", uid: entry.uid)
        }
        var topicNames: [String] = []
        for template in topics {
            let topic = try filled { () throws(Template.Missing) in try template.filled(folded) }
            guard Topic(rawValue: topic) != nil else {
                throw CalendarFault(
                    line: entry.line, "“\(topic.prefix(200))” is not a valid topic. \(Topic.rule)", uid: entry.uid)
            }
            if !topicNames.contains(topic) { topicNames.append(topic) }
        }
        var document = common
        document.set("name", try filled { () throws(Template.Missing) in try name.filled(value) })
        document.set("startsAt", RFC3339.text(startsAt))
        if let endsAt { document.set("endsAt", RFC3339.text(endsAt)) }
        if !topicNames.isEmpty {
            var json = JSONWriter()
            json.array(topicNames) { writer, topic in writer.string(topic) }
            document["topics"] = json.bytes
        }
        if let start {
            let text = try filled { () throws(Template.Missing) in
                var json = JSONWriter()
                try start.write(to: &json, filling: value)
                return String(decoding: json.bytes, as: UTF8.self)
            }
            document["start"] = Array(text.utf8)
        }
        return CalendarDraft(
            line: entry.line, uid: entry.uid, key: key, document: document, isCancelled: entry.isCancelled,
            startsAt: startsAt, endsAt: endsAt)
    }
}

extension CalendarPlan.Request {
    /// Reads a file into drafts. Entries that fail become `problems`.
    ///
    /// - Throws: only if the whole file cannot be read.
    package init(
        _ file: [UInt8], _ declaration: CalendarDeclaration, in zone: TimeZone? = nil, acceptsRemovals: Bool
    ) throws(CalendarFault) {
        let file = try declaration.reading(in: zone).read(file)
        self.init(drafts: [], problems: file.faults.map(CalendarProblem.init), acceptsRemovals: acceptsRemovals)
        for entry in file.entries {
            do throws(CalendarFault) {
                drafts.append(try declaration.draft(entry))
            } catch {
                problems.append(CalendarProblem(error))
            }
        }
    }
}

/// An event made from a calendar entry, before it is stored.
package struct CalendarDraft: Sendable, Hashable {
    package var line: Int
    package var uid: String
    /// The key for a new event. An event that exists already keeps its key.
    package var key: EventKey
    package var document: EventDocument
    package var isCancelled: Bool
    package var startsAt: Date
    package var endsAt: Date?

    package init(
        line: Int, uid: String, key: EventKey, document: EventDocument, isCancelled: Bool = false, startsAt: Date,
        endsAt: Date? = nil
    ) {
        self.line = line
        self.uid = uid
        self.key = key
        self.document = document
        self.isCancelled = isCancelled
        self.startsAt = startsAt
        self.endsAt = endsAt
    }

    /// Whether the event's end, or its assumed end, is in the past.
    func isPast(_ now: Date) -> Bool {
        (endsAt ?? startsAt.addingTimeInterval(CalendarDeclaration.longestWithoutEnd)) <= now
    }
}
