internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// A message as a person types it, and its conversion to the API's body. The form refuses only what cannot be written
/// as a body; the API checks everything else.
struct MessageForm: Sendable, Equatable {
    var isEnd = false
    /// Whether it is a state, as a feed reports it, and not a composed message.
    var isState = false
    /// What was typed, by the field's name: JSON in `contentState`, `byVariant` and `alert`, which is the whole alert
    /// instead of title and body.
    private(set) var values = Dictionary(
        uniqueKeysWithValues: (["contentState", "byVariant"] + ofMessages).map { ($0, "") })
    /// The chosen audiences, as `AudienceChoice.value`; empty: all.
    var audiences: [String] = []

    subscript(name: String) -> String {
        get { values[name] ?? "" }
        set { values[name] = newValue }
    }

    /// The fields that a state does not have: first those that the page always shows, then those of its collapsed
    /// section.
    static let ofMessages = [
        "alertTitle", "alertBody", "sendAt", "staleDate", "dismissalDate", "expiresIn", "priority", "relevanceScore",
        "alert",
    ]

    init() {}

    /// Reads what was typed.
    init(_ fields: FormFields) {
        isEnd = fields["event"] == "end"
        isState = fields["event"] == "state"
        for name in values.keys { self[name] = fields.text(name) }
        for name in ["contentState", "alert", "byVariant"] { self[name] = ReadableJSON.escaped(self[name]) }
        audiences = fields.all("audience")
        spellAlertOut()
    }

    /// A page shows control characters and characters that change the text's direction as their code points. If title
    /// or body has such a character, the alert is kept as JSON, which escapes it.
    private mutating func spellAlertOut() {
        let words = self["alertTitle"] + self["alertBody"]
        guard self["alert"].isEmpty, words.unicodeScalars.contains(where: HTMLText.isDeceptive) else { return }
        var faults: [FieldError] = []
        self["alert"] = alertJSON(&faults).map { ReadableJSON.text($0, maximumBytes: .max) } ?? ""
        (self["alertTitle"], self["alertBody"]) = ("", "")
    }

    /// Prefills the form: with the contents of a message, or with all of a message that is to be sent again.
    init(_ message: Contract.BroadcastDraft, isWhole: Bool, now: Date) {
        self["contentState"] = message.contentState.map(Self.text) ?? ""
        let own = (message.byVariant ?? [:]).mapValues {
            Contract.VariantContent(contentState: $0.contentState, alert: isWhole ? $0.alert : nil)
        }.filter { $0.value.contentState != nil || $0.value.alert != nil }
        self["byVariant"] = own.isEmpty ? "" : Self.text(RawJSON(writing: own))
        guard isWhole else { return }
        isEnd = message.event == .end
        read(alert: message.alert.map { Array($0.bytes) })
        audiences = (message.audiences ?? []).map(AudienceChoice.value)
        self["priority"] = message.priority.map(String.init) ?? ""
        self["expiresIn"] = message.expiresIn.map(String.init) ?? ""
        self["staleDate"] = Self.text(message.staleDate, after: now)
        self["dismissalDate"] = Self.text(message.dismissalDate, after: now)
        self["relevanceScore"] = message.relevanceScore?.description ?? ""
    }

    private static func text(_ json: RawJSON) -> String { ReadableJSON.text(Array(json.bytes), maximumBytes: .max) }

    /// Fills title and body if the alert has nothing else; otherwise fills the JSON field.
    private mutating func read(alert bytes: [UInt8]?) {
        guard let bytes else { return }
        guard case .object(let members)? = (try? JSONValue(parsing: bytes))?.kind,
            members.allSatisfy({ ["title", "body"].contains($0.name) && $0.value.string != nil })
        else {
            self["alert"] = ReadableJSON.text(bytes, maximumBytes: .max)
            return
        }
        for member in members { self[member.name == "title" ? "alertTitle" : "alertBody"] = member.value.string ?? "" }
        spellAlertOut()
    }

    /// The time as RFC 3339 text; empty for a time in the past.
    private static func text(_ date: Date?, after now: Date) -> String {
        date.flatMap { $0 > now ? RFC3339.text($0) : nil } ?? ""
    }

    // MARK: The API's body

    /// The body of `POST /v1/events/{key}/broadcasts`, or for a state of `PUT /v1/events/{key}/state`.
    ///
    /// - Throws: `invalid-request` with the fields that cannot be written into it.
    func body() throws(Problem) -> [UInt8] {
        var faults: [FieldError] = []
        let bytes = JSONWriter.text { object in
            if isState {
                for field in Self.ofMessages where !self[field].isEmpty {
                    faults.append(FieldError(pointer: field, detail: "A state has none. Choose Composed message."))
                }
            } else {
                object.member("event", isEnd ? "end" : "update")
            }
            func write(_ name: String, _ value: [UInt8]?) {
                guard let value else { return }
                object.name(dynamic: name)
                object.raw(value)
            }
            write("contentState", json("contentState", &faults))
            write("alert", alertJSON(&faults))
            write("byVariant", json("byVariant", &faults))
            if !audiences.isEmpty {
                object.name("audiences")
                object.array(audiences) { writer, choice in writer.raw(AudienceChoice.json(choice)) }
            }
            for name in ["priority", "expiresIn"] { write(name, number(name, &faults)) }
            for name in ["staleDate", "dismissalDate", "sendAt"] where !self[name].isEmpty {
                write(name, Array(FormTime.utc(self[name]).quotedJSON.utf8))
            }
            write("relevanceScore", number("relevanceScore", &faults))
        }
        guard faults.isEmpty else { throw Problem(.invalidRequest, "Correct these fields.", errors: faults) }
        return bytes
    }

    /// The fields of one line that the page shows in its collapsed section.
    var moreInputs: [FormInput] {
        var priorities = FormInput(name: "priority", label: "Priority", isRequired: true)
        (priorities.isSelect, priorities.choices) = (true, Choice.priorities(chosen: self["priority"]))
        func line(_ name: String, _ label: String, isTime: Bool = false) -> FormInput {
            .line(name, label, self[name], isTime: isTime)
        }
        return [
            line("sendAt", "Send at", isTime: true), line("staleDate", "Out of date from", isTime: true),
            line("dismissalDate", "Remove the ended activity at", isTime: true),
            line("expiresIn", "Worth sending for (seconds)"), priorities, line("relevanceScore", "relevanceScore"),
        ]
    }

    private func alertJSON(_ faults: inout [FieldError]) -> [UInt8]? {
        let parts = [("title", self["alertTitle"]), ("body", self["alertBody"])].filter { !$0.1.isEmpty }
        guard self["alert"].isEmpty else {
            if !parts.isEmpty {
                faults.append(
                    FieldError(pointer: "alert", detail: "Give title and body, or the whole alert as JSON, not both."))
            }
            return json("alert", &faults)
        }
        guard !parts.isEmpty else { return nil }
        return JSONWriter.text { object in
            for (name, text) in parts {
                object.name(dynamic: name)
                object.string(text)
            }
        }
    }

    /// The JSON that was typed into a field. Text that is not JSON is a fault.
    private func json(_ field: String, _ faults: inout [FieldError]) -> [UInt8]? {
        guard !self[field].isEmpty else { return nil }
        do throws(Problem) {
            // White space is removed, because it would count against Apple's size limit.
            return try JSONValue(parsing: Array(self[field].utf8), refusesHugeNumbers: true).compact
        } catch {
            faults.append(FieldError(pointer: field, detail: error.detail))
            return nil
        }
    }

    /// The number that was typed, as JSON without quotes.
    private func number(_ field: String, _ faults: inout [FieldError]) -> [UInt8]? {
        let text = self[field]
        guard !text.isEmpty else { return nil }
        guard let value = try? JSONValue(parsing: Array(text.utf8)), case .number = value.kind else {
            faults.append(
                FieldError(
                    pointer: field,
                    detail: "\(field) is \(String(text.prefix(50)).quotedJSON): a number was expected."))
            return nil
        }
        return value.bytes
    }
}

extension FormFields {
    /// Text of several lines. Forms end a line with CR LF; the result has LF.
    func text(_ name: String) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: (self[name] ?? "").unicodeScalars.filter { $0 != "\r" })
        return text
    }
}

/// Times in forms: `2026-11-21 20:45`. Without scripts such a time is UTC, as its label says. With scripts, label and
/// field show the reader's zone, and the script sends UTC (`console.js`).
enum FormTime {
    /// `2026-11-21 20:45` → `2026-11-21T20:45:00Z`. Other text is returned unchanged, and the API judges it.
    static func utc(_ text: String) -> String {
        let shape = String(text.map { $0.isASCII && $0.isNumber ? "0" : $0 })
        switch shape {
        case "0000-00-00": return text + "T00:00:00Z"
        case "0000-00-00T00:00", "0000-00-00 00:00": return text.replacing(" ", with: "T") + ":00Z"
        case "0000-00-00T00:00:00", "0000-00-00 00:00:00": return text.replacing(" ", with: "T") + "Z"
        default: return text
        }
    }

    /// The value of a field in UTC; it has seconds only if they are not zero.
    static func local(_ date: Date?) -> String {
        guard let text = date.map({ RFC3339.text($0).prefix(19).replacing("T", with: " ") }) else { return "" }
        return String(text.hasSuffix(":00") ? text.dropLast(3) : text[...])
    }

    /// The value of a field in UTC, for a time given as text. Text that is not a time is returned unchanged.
    static func local(_ text: String) -> String { RFC3339.date(utc(text)).map { local(Optional($0)) } ?? text }
}

/// One audience in a form.
enum AudienceChoice {
    static func choice(_ audience: Contract.EventAudience, chosen: [String]) -> Choice {
        let (app, environment) = (audience.bundleId, audience.environment)
        let value = value(.init(bundleId: app, environment: environment, variant: audience.variant))
        // A chosen selector without a variant selects all variants.
        let isChosen =
            chosen.contains(value) || chosen.contains(self.value(.init(bundleId: app, environment: environment)))
        return Choice(value, label: audience.words, isChosen: isChosen)
    }

    /// `com.example.Stadium production de`
    static func value(_ selector: Contract.AudienceSelector) -> String {
        [selector.bundleId, selector.environment.rawValue, selector.variant].compactMap(\.self).joined(separator: " ")
    }

    /// The API's audience selector for a chosen value.
    static func json(_ value: String) -> [UInt8] {
        let parts = value.split(separator: " ", maxSplits: 2).map(String.init)
        return JSONWriter.text { object in
            object.member("bundleId", parts.first ?? "")
            object.member("environment", parts.count > 1 ? parts[1] : "")
            if parts.count > 2 { object.member("variant", parts[2]) }
        }
    }
}
