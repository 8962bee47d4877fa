package import Calendars
internal import FoundationEssentials

extension CalendarDeclaration {
    /// Reads the body of `PUT /v1/calendars/{name}`. Its part about events is checked on a sample event.
    ///
    /// - Parameters:
    ///   - networks: where `url` may lead; `nil`: that was looked at.
    ///   - zones: the time zones there are.
    /// - Throws: `invalid-request`, `unknown-field`.
    package init(
        _ body: JSONValue, networks: NetworkGuard?, documents: EventDocuments, zones: (String) -> ZoneRules?
    ) throws(Problem) {
        var fields = JSONFields(body)
        let format = fields.choice("format", CalendarReading.Format.self, required: true) ?? .ics
        let url = fields.url(networks)
        let refreshEvery = fields.integer("refreshEvery", in: 1...2_592_000)
        if refreshEvery != nil, body["url"] == nil {
            fields.fault("refreshEvery", "A calendar is fetched from its url, which is not there.")
        }
        let timeZone = fields.text("timeZone", maximum: 100)
        if let timeZone, zones(timeZone) == nil {
            fields.fault("timeZone", "There is no time zone \(timeZone) on this server; Europe/Vienna is one.")
        }
        let eventKey = fields.template("eventKey", required: true)
        if let eventKey, eventKey.names.isEmpty {
            fields.fault("eventKey", "Each entry needs a key of its own: a name in braces, such as {uid}.")
        }
        let name = fields.template("name", required: false)
        let topics = fields.topicTemplates()
        let columns = fields.columns(format)
        let datePattern = fields.choice("datePattern", DatePattern.self)
        if datePattern != nil, format == .ics {
            fields.fault("datePattern", "iCalendar has one way to write times; leave it out.")
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
        guard let eventKey, let name = name ?? summary else { throw Problem(.invalidRequest, Template.rule) }
        self.init(
            format: format, url: url, refreshEvery: refreshEvery, timeZone: timeZone, eventKey: eventKey, name: name,
            topics: topics, columns: columns, datePattern: datePattern ?? .iso, defaultDuration: defaultDuration,
            common: common, start: try start.map { value throws(Problem) in try JSONValue(parsing: value.compact) },
            audiences: [], source: EventDocument(try JSONValue(parsing: body.compact)))
        audiences = try sample(documents).audiences
    }

    /// Reads what was declared, as the store keeps it.
    package init(stored source: JSONValue, documents: EventDocuments) throws(Problem) {
        try self.init(source, networks: nil, documents: documents, zones: { _ in .utc })
    }

    /// An event such as the templates make: of the year 2000, so that whatever `start` says is after its beginning.
    private func sample(_ documents: EventDocuments) throws(Problem) -> EventSpecification {
        let names = reading(zones: { _ in .utc }).names
        let entry = CalendarEntry(
            line: 1, uid: "1", startsAt: 946_684_800, endsAt: 946_684_800,
            values: Dictionary(uniqueKeysWithValues: names.map { ($0, "1") }))
        let draft: CalendarDraft
        do throws(CalendarFault) {
            draft = try self.draft(entry)
        } catch {
            throw Problem.invalid(error.detail, at: "/eventKey", error.detail)
        }
        return try documents.read(draft.key, draft.document)
    }
}

extension JSONFields {
    fileprivate mutating func url(_ networks: NetworkGuard?) -> WebhookURL? {
        guard let text = text("url", maximum: 2_000) else { return nil }
        guard let url = WebhookURL(rawValue: text) else {
            fault("url", WebhookURL.rule)
            return nil
        }
        if let reason = networks?.fault(of: url) { fault("url", reason) }
        return url
    }

    fileprivate mutating func template(_ name: String, required: Bool) -> Template? {
        guard let text = text(name, required: required) else { return nil }
        let template = Template(text)
        if template == nil { fault(name, Template.rule) }
        return template
    }

    fileprivate mutating func topicTemplates() -> [Template] {
        (array("topics", count: 0...EventSpecification.maximumTopics) ?? []).compactMap { value, pointer in
            let template = value.string.flatMap { $0.isEmpty || $0.utf8.count > 500 ? nil : Template($0) }
            if template == nil { fault(at: pointer, "A text such as team:{home} was expected. \(Template.rule)") }
            return template
        }
    }

    /// Names of values, and where each is from.
    fileprivate mutating func columns(_ format: CalendarReading.Format) -> [String: String] {
        guard let value = value("columns") else { return [:] }
        guard case .object(let members) = value.kind, members.count <= 100 else {
            fault("columns", "An object was expected: names of values and the columns they are in, 100 at most.")
            return [:]
        }
        var columns: [String: String] = [:]
        for (name, column) in members {
            let pointer = pointer(to: "columns") + JSONText.pointer([name])
            // A column of that name is not it either.
            if case .null = column.kind {
                columns[name] = ""
                continue
            }
            guard let text = column.string, !text.isEmpty, text.utf8.count <= 500 else {
                fault(at: pointer, "The name of a column was expected, a template, or null.")
                continue
            }
            if text.contains("{") || text.contains("}"), Template(text) == nil { fault(at: pointer, Template.rule) }
            // iCalendar says itself what these are, whatever columns a file of the same fixtures has.
            if format == .ics, ["uid", "startsAt", "endsAt", "timeZone", "status"].contains(name) { continue }
            columns[name] = text
        }
        return columns
    }
}
