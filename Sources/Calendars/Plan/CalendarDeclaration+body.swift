internal import Foundation
package import Grandstand
package import JSON

extension CalendarDeclaration {
    /// Reads the plan file of `grandstand season`. Its part about events is checked on a sample event.
    ///
    /// - Throws: `invalid-request`, `unknown-field`, with pointers into the file.
    package init(_ body: JSONValue, documents: EventDocuments) throws(Problem) {
        var fields = JSONFields(body)
        let format = fields.choice("format", CalendarReading.Format.self, required: true) ?? .ics
        let season = fields.text("season", required: true, maximum: 64).flatMap(SeasonName.init)
        if season == nil, body["season"]?.string != nil { fields.fault("season", SeasonName.rule) }
        let source = fields.text("source", maximum: 2_000)
        let zoneName = fields.text("timeZone", maximum: 100)
        let timeZone = zoneName.flatMap(TimeZone.named)
        if let zoneName, timeZone == nil {
            fields.fault(
                "timeZone", "There is no time zone \(zoneName) on this machine. Use a name such as Europe/Vienna.")
        }
        let eventKey = fields.template("eventKey", required: true)
        if let eventKey, eventKey.names.isEmpty {
            fields.fault("eventKey", "All entries would have the same key. Use a name in braces, such as {uid}.")
        }
        let name = fields.template("name", required: false)
        let topics = fields.topicTemplates()
        let columns = fields.columns(format)
        let datePattern = fields.choice("datePattern", DatePattern.self)
        if datePattern != nil, format == .ics {
            fields.fault("datePattern", "datePattern is only for CSV. Leave it out.")
        }
        let defaultDuration = fields.integer("defaultDuration", in: 0...2_592_000)
        var common = EventDocument()
        for member in ["kind", "channelsOpenBefore", "audiences", "defaults"] {
            if let value = fields.value(member, required: member == "audiences") { common[member] = value.compact }
        }
        let start = fields.value("start")
        if let broken = start?.brokenTemplate(at: "/start") { fields.fault(at: broken, Template.rule) }
        try fields.finish()
        let summary = Template("{summary}")
        guard let season, let eventKey, let name = name ?? summary else {
            throw Problem(.invalidRequest, Template.rule)
        }
        self.init(
            season: season, source: source, format: format, timeZone: timeZone, eventKey: eventKey, name: name,
            topics: topics, columns: columns, datePattern: datePattern ?? .iso, defaultDuration: defaultDuration,
            common: common, start: try start.map { value throws(Problem) in try JSONValue(parsing: value.compact) })
        try checkSample(documents)
    }

    /// Checks a sample event made from the templates. It begins in the year 2000, so that every time in the plan's
    /// `start` is later.
    private func checkSample(_ documents: EventDocuments) throws(Problem) {
        let names = reading().names
        let entry = CalendarEntry(
            line: 1, uid: "1", startsAt: 946_684_800, endsAt: 946_684_800,
            values: Dictionary(uniqueKeysWithValues: names.map { ($0, "1") }))
        let draft: CalendarDraft
        do throws(CalendarFault) {
            draft = try self.draft(entry)
        } catch {
            throw Problem.invalid(error.detail, at: "/eventKey", error.detail)
        }
        _ = try documents.read(draft.key, draft.document)
    }
}

extension JSONFields {
    fileprivate mutating func template(_ name: String, required: Bool) -> Template? {
        guard let text = text(name, required: required) else { return nil }
        let template = Template(text)
        if template == nil { fault(name, Template.rule) }
        return template
    }

    fileprivate mutating func topicTemplates() -> [Template] {
        (array("topics", count: 0...200) ?? []).compactMap { value, pointer in
            let template = value.string.flatMap { $0.isEmpty || $0.utf8.count > 500 ? nil : Template($0) }
            if template == nil { fault(at: pointer, "Expected a text such as team:{home}. \(Template.rule)") }
            return template
        }
    }

    /// Where each value comes from, by the value's name: a CSV column, an iCalendar property or a template. An empty
    /// text: the name has no value.
    fileprivate mutating func columns(_ format: CalendarReading.Format) -> [String: String] {
        guard let value = value("columns") else { return [:] }
        guard case .object(let members) = value.kind, members.count <= 100 else {
            fault("columns", "Expected an object of at most 100 members, such as {\"home\": \"Home Team\"}.")
            return [:]
        }
        var columns: [String: String] = [:]
        for (name, column) in members {
            let pointer = pointer(to: "columns") + JSONText.pointer([name])
            // `null`: the name has no value, not even from a column with the same name.
            if case .null = column.kind {
                columns[name] = ""
                continue
            }
            guard let text = column.string, !text.isEmpty, text.utf8.count <= 500 else {
                fault(at: pointer, "Expected a column's name, a template such as {date} {time}, or null.")
                continue
            }
            if text.contains("{") || text.contains("}"), Template(text) == nil { fault(at: pointer, Template.rule) }
            // iCalendar has its own properties for these names. A plan may name columns for them, because it may also
            // be used with a CSV file of the same fixtures.
            if format == .ics, ["uid", "startsAt", "endsAt", "timeZone", "status"].contains(name) { continue }
            columns[name] = text
        }
        return columns
    }
}
