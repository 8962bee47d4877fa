internal import Foundation
internal import Grandstand
internal import GrandstandServer
internal import JSON

extension CalendarDeclaration {
    private static let text = RequestShape.text(TextRule(1...200, isPrintable: true))

    private static let shape: RequestShape = .object(
        [
            .init("format", isRequired: true, .words(["ics", "csv"])),
            .init("season", isRequired: true, .text(.seasonName)),
            .init("source", .text(TextRule(1...2_000, isPrintable: true))), .init("timeZone", text),
            .init("eventKey", isRequired: true, text), .init("name", text),
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
        season = try SeasonName(allowed: text("season") ?? "")
        source = text("source")
        reading = CalendarReading(format: text("format") == "csv" ? .csv : .ics)
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
            let pointer = JSONText.pointer(["columns", name])
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
        reading.postponesWithoutTime = text("noTime") != nil
        reading.acceptsMidnight = text("midnight") != nil
        reading.isDayMonthYear = text("datePattern") == "dmy"
        if text("datePattern") != nil, reading.format == .ics {
            faults.add("/datePattern", "datePattern is only for CSV. Leave it out.")
        }
        defaultDuration = body["defaultDuration"]?.integer
        for member in ["kind", "channelsOpenBefore", "audiences", "defaults"] {
            common[member] = body[member]?.compact
        }
        if let value = body["start"], !value.isNull {
            start = try JSONValue(parsing: value.compact)
            for (pointer, string) in value.strings(at: "/start") { _ = template(string.string ?? "", at: pointer) }
        }
    }

    /// Checks a sample event made from the templates. It begins in the year 2000, so that every time in the plan's
    /// `start` is later.
    private func checkSample() throws(Problem) {
        let entry = CalendarEntry(line: 1, uid: "1", startsAt: 946_684_800, endsAt: 946_684_801) { _ in "1" }
        let draft: CalendarDraft
        do throws(CalendarFault) {
            draft = try self.draft(entry)
        } catch {
            throw Problem.invalid(error.detail, at: "/eventKey", error.detail)
        }
        _ = try draft.document.declaration(of: draft.key)
    }
}
