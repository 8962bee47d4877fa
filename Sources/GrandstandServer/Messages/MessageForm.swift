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
        uniqueKeysWithValues: (["contentState", "byVariant"] + nonStateFields).map { ($0, "") })
    /// The chosen audiences, as `AudienceChoice.value`; empty: all.
    var audiences: [String] = []

    subscript(name: String) -> String {
        get { values[name] ?? "" }
        set { values[name] = newValue }
    }

    /// The fields that a state does not have: first those that the page always shows, then those of its collapsed
    /// section.
    static let nonStateFields = [
        "alertTitle", "alertBody", "sendAt", "staleDate", "dismissalDate", "expiresIn", "priority", "relevanceScore",
        "alert",
    ]

    init() {}

    /// Reads what was typed.
    init(_ fields: FormFields) {
        isEnd = fields["event"] == "end"
        isState = fields["event"] == "state"
        for name in values.keys { self[name] = fields.multiline(name) }
        for name in ["contentState", "alert", "byVariant"] { self[name] = ReadableJSON.escaped(self[name]) }
        audiences = fields.all("audience")
        if self["alert"].isEmpty { fill(typedAlert) }
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
        fill(message.alert)
        audiences = (message.audiences ?? []).map(AudienceChoice.value)
        self["priority"] = message.priority.map(String.init) ?? ""
        self["expiresIn"] = message.expiresIn.map(String.init) ?? ""
        self["staleDate"] = Self.text(message.staleDate, after: now)
        self["dismissalDate"] = Self.text(message.dismissalDate, after: now)
        self["relevanceScore"] = message.relevanceScore?.description ?? ""
    }

    private static func text(_ json: RawJSON) -> String { ReadableJSON.text(json.utf8, maximumBytes: .max) }

    /// The time as RFC 3339 text; empty for a time in the past.
    private static func text(_ date: Date?, after now: Date) -> String {
        date.flatMap { $0 > now ? RFC3339.text($0) : nil } ?? ""
    }

    /// Fills title and body if the alert has nothing else; otherwise fills the JSON field. A page shows control
    /// characters and characters that change the text's direction as their code points. JSON escapes them.
    private mutating func fill(_ alert: RawJSON?) {
        guard let alert else { return }
        let members = (try? alert.value)?.members ?? []
        let isPlain = members.allSatisfy { member in
            ["title", "body"].contains(member.name)
                && member.value.string?.unicodeScalars.contains(where: HTMLText.isDeceptive) == false
        }
        func text(_ name: String) -> String { isPlain ? members.first { $0.name == name }?.value.string ?? "" : "" }
        (self["alertTitle"], self["alertBody"]) = (text("title"), text("body"))
        self["alert"] = isPlain ? "" : Self.text(alert)
    }

    /// The alert of title and body.
    private var typedAlert: RawJSON? {
        let (title, body) = (self["alertTitle"], self["alertBody"])
        guard !title.isEmpty || !body.isEmpty else { return nil }
        return .alert(title: title.isEmpty ? nil : .text(title), body: body.isEmpty ? nil : .text(body))
    }

    // MARK: The API's body

    /// The body of `POST /v1/events/{key}/broadcasts`, or for a state of `PUT /v1/events/{key}/state`.
    ///
    /// - Throws: `invalid-request` with the fields that cannot be written into it.
    func body() throws(Problem) -> [UInt8] {
        var members: [(String, String)] = isState ? [] : [("event", isEnd ? #""end""# : #""update""#)]
        var faults = Self.nonStateFields.filter { isState && !self[$0].isEmpty }.map {
            FieldError(pointer: $0, detail: "A state has none. Choose Composed message.")
        }
        if let alert = typedAlert {
            members.append(("alert", alert.description))
            if !self["alert"].isEmpty {
                faults.append(
                    FieldError(pointer: "alert", detail: "Give title and body, or the whole alert as JSON, not both."))
            }
        }
        for name in ["contentState", "alert", "byVariant"] where !self[name].isEmpty {
            do throws(Problem) {
                // White space is removed, because it would count against Apple's size limit.
                let json = try JSONValue(parsing: Array(self[name].utf8), refusesHugeNumbers: true).compact
                members.append((name, String(decoding: json, as: UTF8.self)))
            } catch {
                faults.append(FieldError(pointer: name, detail: error.detail))
            }
        }
        if !audiences.isEmpty { members.append(("audiences", "[\(audiences.joined(separator: ","))]")) }
        // The API refuses a text that is not a number.
        for name in ["priority", "expiresIn", "relevanceScore"] where !self[name].isEmpty {
            let isJSON = (try? JSONValue(parsing: Array(self[name].utf8))) != nil
            members.append((name, isJSON ? self[name] : self[name].quotedJSON))
        }
        for name in ["staleDate", "dismissalDate", "sendAt"] where !self[name].isEmpty {
            members.append((name, FormTime.utc(self[name]).quotedJSON))
        }
        guard faults.isEmpty else { throw Problem(.invalidRequest, "Correct these fields.", errors: faults) }
        return Array("{\(members.map { "\($0.quotedJSON):\($1)" }.joined(separator: ","))}".utf8)
    }

    /// The fields of one line that the page shows in its collapsed section.
    var moreInputs: [FormInput] {
        var priorities = FormInput(name: "priority", label: "Priority", isRequired: true)
        priorities.isSelect = true
        priorities.choices = ["", "10", "5", "1"].map {
            Choice($0, label: $0.isEmpty ? "as the message needs it" : $0, isChosen: $0 == self["priority"])
        }
        func line(_ name: String, _ label: String, isTime: Bool = false) -> FormInput {
            .line(name, label, self[name], isTime: isTime)
        }
        return [
            line("sendAt", "Send at", isTime: true), line("staleDate", "Out of date from", isTime: true),
            line("dismissalDate", "Remove the ended activity at", isTime: true),
            line("expiresIn", "Worth sending for (seconds)"), priorities, line("relevanceScore", "relevanceScore"),
        ]
    }
}

extension FormFields {
    /// Text of several lines. Forms end a line with CR LF; the result has LF.
    func multiline(_ name: String) -> String {
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
    static func field(_ date: Date?) -> String {
        guard let text = date.map({ RFC3339.text($0).prefix(19).replacing("T", with: " ") }) else { return "" }
        return String(text.hasSuffix(":00") ? text.dropLast(3) : text[...])
    }

    /// The value of a field in UTC, for a time given as text. Text that is not a time is returned unchanged.
    static func field(_ text: String) -> String { RFC3339.date(utc(text)).map { field(Optional($0)) } ?? text }
}

/// One audience in a form. The form's value is the API's selector.
enum AudienceChoice {
    static func choice(_ audience: Contract.EventAudience, chosen: [String]) -> Choice {
        let (app, environment) = (audience.bundleId, audience.environment)
        let value = value(.init(bundleId: app, environment: environment, variant: audience.variant))
        // A chosen selector without a variant selects all variants.
        let isChosen =
            chosen.contains(value) || chosen.contains(self.value(.init(bundleId: app, environment: environment)))
        return Choice(value, label: audience.words, isChosen: isChosen)
    }

    static func value(_ selector: Contract.AudienceSelector) -> String { RawJSON(writing: selector).description }
}
