internal import Foundation
internal import Grandstand
internal import GrandstandContract
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
        func template(_ text: String, at pointer: String) -> Template {
            if let template = Template(text) { return template }
            faults.add(pointer, Template.rule)
            return Template()
        }
        season = try SeasonName(allowed: body["season"]?.string ?? "")
        source = body["source"]?.string
        reading = CalendarReading(format: body["format"]?.string == "csv" ? .csv : .ics)
        if let name = body["timeZone"]?.string {
            reading.timeZone = TimeZone.named(name)
            if reading.timeZone == nil {
                faults.add(
                    "/timeZone", "There is no time zone \(name) on this machine. Use a name such as Europe/Vienna.")
            }
        }
        let keyText = body["eventKey"]?.string ?? ""
        eventKey = template(keyText, at: "/eventKey")
        if !keyText.contains("{") {
            faults.add("/eventKey", "All entries would have the same key. Use a name in braces, such as {uid}.")
        }
        name = template(body["name"]?.string ?? "{summary}", at: "/name")
        topics = (body["topics"]?.elements ?? []).enumerated().map { place, topic in
            template(topic.string ?? "", at: "/topics/\(place)")
        }
        if case .object(let members)? = body["columns"]?.kind {
            for (name, column) in members {
                let pointer = JSONText.pointer(["columns", name])
                // `null`: the name has no value, not even from a column with the same name.
                if case .null = column.kind {
                    reading.columns[name] = ""
                    continue
                }
                guard let text = column.string, !text.isEmpty, text.utf8.count <= 500 else {
                    faults.add(pointer, "Expected a column's name, a template such as {date} {time}, or null.")
                    continue
                }
                if text.contains("{") || text.contains("}") { _ = template(text, at: pointer) }
                // iCalendar has its own properties for these names. A plan may name columns for them, because it may
                // also be used with a CSV file of the same fixtures.
                let isFixed =
                    ["startsAt", "endsAt", "timeZone", "status"].contains(name) || name == "uid" && !text.contains("{")
                if reading.format == .csv || !isFixed { reading.columns[name] = text }
            }
        }
        if case .object(let members)? = body["statuses"]?.kind {
            for (word, status) in members {
                reading.statuses[word.lowercased()] = status.string.flatMap(CalendarEntry.Status.init(rawValue:))
            }
        }
        reading.postponesWithoutTime = body["noTime"]?.string != nil
        reading.acceptsMidnight = body["midnight"]?.string != nil
        reading.isDayMonthYear = body["datePattern"]?.string == "dmy"
        if body["datePattern"]?.string != nil, reading.format == .ics {
            faults.add("/datePattern", "datePattern is only for CSV. Leave it out.")
        }
        defaultDuration = body["defaultDuration"]?.integer
        common = EventDocument()
        for member in ["kind", "channelsOpenBefore", "audiences", "defaults"] {
            common[member] = body[member]?.compact
        }
        if let value = body["start"], value.kindName != "null" {
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
