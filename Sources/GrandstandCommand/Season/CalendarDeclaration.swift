internal import Foundation
internal import Grandstand
internal import GrandstandServer
internal import JSON

/// An organiser's plan of a season: how its calendar is read, and which events its entries become.
struct CalendarDeclaration: Sendable {
    var season: String
    /// A file or URL; `nil`: the command names one.
    var source: String?
    var reading: CalendarReader
    /// `nil`: it is no template, which is a fault of the plan.
    var eventKey: Template?
    var name: Template?
    var topics: [Template]
    /// The duration in seconds of an event that has no end in the calendar.
    var defaultDuration: Int?
    /// Members of each event that are the same for all of them: `kind`, `channelsOpenBefore`, `audiences`, `defaults`.
    var eventBase = JSONDraft()
    /// The start of each event. Every string in it is a template.
    var pushStart: JSONValue?

    /// An entry without an end counts as past this many seconds after its start.
    private static let assumedDuration: TimeInterval = 43_200

    /// Makes an event from a calendar entry.
    ///
    /// - Throws: if a template has no value, or makes an invalid key or topic.
    func draft(_ entry: CalendarEntry) throws(CalendarFault) -> EntryEvent {
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
            guard TextRule.topic.accepts(topic) else {
                throw fault("“\(topic.prefix(200))” is not a valid topic. \(TextRule.topic.sentence)")
            }
            if !topicNames.contains(topic) { topicNames.append(topic) }
        }
        var document = eventBase
        document.set("name", try complete(name?.filled(value)))
        if !topicNames.isEmpty {
            document["topics"] = JSONWriter.text(topicNames)
        }
        if let startsAt, entry.status != .postponed {
            document.set("startsAt", RFC3339.text(startsAt))
            if let endsAt { document.set("endsAt", RFC3339.text(endsAt)) }
            if let pushStart { document["start"] = try complete(pushStart.filled(value)) }
        } else if document["channelsOpenBefore"] == nil {
            // Without `startsAt` its channels wait only if they are to open before it.
            document["channelsOpenBefore"] = Array("0".utf8)
        }
        return EntryEvent(
            line: entry.line, uid: entry.uid, key: key, document: document, isCancelled: entry.status == .cancelled,
            pastAt: entry.status == .postponed
                ? nil : endsAt ?? startsAt?.addingTimeInterval(Self.assumedDuration))
    }
}

/// An event made from a calendar entry, before it is stored.
struct EntryEvent: Sendable {
    var line: Int
    var uid: String
    /// The key for a new event. An event that exists already keeps its key.
    var key: EventKey
    var document: JSONDraft
    var isCancelled: Bool
    /// When the event's end, or its assumed end, is in the past; `nil`: its time is unknown.
    var pastAt: Date?
}

extension CalendarDeclaration {
    private static let textShape = RequestShape.text(TextRule(1...200, isPrintable: true))

    private static let shape: RequestShape = .object(
        [
            .init("format", isRequired: true, .words(["ics", "csv"])),
            .init("season", isRequired: true, .text(.seasonName)),
            .init("source", .text(TextRule(1...2_000, isPrintable: true))), .init("timeZone", textShape),
            .init("eventKey", isRequired: true, textShape), .init("name", textShape),
            .init("topics", .array(.text(TextRule(1...500)), 0...200, isUnique: false)),
            .init("columns", .map(TextRule(), .any)), .init("datePattern", .words(["iso", "dmy"])),
            .init("defaultDuration", .integer(1...2_592_000)), .init("kind", .any), .init("channelsOpenBefore", .any),
            .init("statuses", .map(TextRule(), .words(CalendarEntry.Status.allCases.map(\.rawValue)))),
            .init("noTime", .words(["postponed"])), .init("midnight", .words(["time"])),
            .init("audiences", isRequired: true, .any), .init("defaults", .any), .init("start", .any),
        ], excluding: [])

    /// Reads the plan file of `grandstand season`. Its part about events is checked on a sample event.
    ///
    /// - Throws: `invalid-request`, `unknown-field`, with pointers into the file.
    init(_ body: JSONValue) throws(Problem) {
        self = try Self.shape.read(body) { faults throws(Problem) in try Self(body, &faults) }
        try checkSample()
    }

    private init(_ body: JSONValue, _ faults: inout RequestFaults) throws(Problem) {
        func template(_ text: String, at pointer: String) -> Template? {
            let template = Template(text)
            if template == nil { faults.add(pointer, Template.rule) }
            return template
        }
        func members(_ name: String) -> [(name: String, value: JSONValue)] {
            if case .object(let members)? = body[name]?.kind { members } else { [] }
        }
        func text(_ name: String) -> String? { body[name]?.string }
        season = text("season") ?? ""
        source = text("source")
        reading = CalendarReader(format: text("format") == "csv" ? .csv : .ics)
        if let name = text("timeZone") {
            reading.timeZone = TimeZone.named(name)
            if reading.timeZone == nil {
                faults.add(
                    "/timeZone", "There is no time zone \(name) on this machine. Use a name such as Europe/Vienna.")
            }
        }
        eventKey = template(text("eventKey") ?? "", at: "/eventKey")
        if text("eventKey")?.contains("{") == false {
            faults.add("/eventKey", "All entries would have the same key. Use a name in braces, such as {uid}.")
        }
        name = template(text("name") ?? "{summary}", at: "/name")
        topics = (body["topics"]?.elements ?? []).enumerated().compactMap { place, topic in
            template(topic.string ?? "", at: "/topics/\(place)")
        }
        for (name, column) in members("columns") {
            let pointer = PointerText.pointer(["columns", name])
            // `null`: the name has no value, not even from a column with the same name.
            let text = column.string ?? ""
            if text.isEmpty, !column.isNull {
                faults.add(pointer, "Expected a column's name, a template such as {date} {time}, or null.")
            }
            if text.contains("{") || text.contains("}") { _ = template(text, at: pointer) }
            // iCalendar has its own properties for these names. A plan may name columns for them, because it may also be
            // used with a CSV file of the same fixtures.
            let isFixed =
                ["startsAt", "endsAt", "timeZone", "status"].contains(name) || name == "uid" && !text.contains("{")
            if reading.format == .csv || text.isEmpty || !isFixed { reading.columns[name] = text }
        }
        for (word, status) in members("statuses") {
            reading.statuses[word.lowercased()] = status.string.flatMap(CalendarEntry.Status.init(rawValue:))
        }
        reading.postponesUntimed = text("noTime") != nil
        reading.acceptsMidnight = text("midnight") != nil
        reading.isDayMonthYear = text("datePattern") == "dmy"
        if text("datePattern") != nil, reading.format == .ics {
            faults.add("/datePattern", "datePattern is only for CSV. Leave it out.")
        }
        defaultDuration = body["defaultDuration"]?.integer
        for member in ["kind", "channelsOpenBefore", "audiences", "defaults"] {
            if let value = body[member], !value.isNull { eventBase[member] = value.compact }
        }
        if let value = body["start"], !value.isNull {
            pushStart = try JSONValue(parsing: value.compact)
            for (pointer, string) in value.strings(at: "/start") { _ = template(string.string ?? "", at: pointer) }
        }
    }

    /// Checks a sample event made from the templates. It begins in the year 2000, so that every time in the plan's
    /// `pushStart` is later.
    private func checkSample() throws(Problem) {
        let entry = CalendarEntry(line: 1, uid: "1", startsAt: 946_684_800, endsAt: 946_684_801) { _ in "1" }
        let draft: EntryEvent
        do throws(CalendarFault) {
            draft = try self.draft(entry)
        } catch {
            throw Problem.invalid(error.detail, at: "/eventKey", error.detail)
        }
        _ = try draft.document.declaration()
    }
}
