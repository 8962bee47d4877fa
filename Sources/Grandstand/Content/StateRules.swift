package import FoundationEssentials
package import JSON

/// Which changes of a state are quiet and which ring, as a content type declares them.
package struct StateRules: Sendable {
    /// Members whose changes alone are not urgent.
    package var quiet: [JSONPointer] = []
    /// Seconds between two messages that have only such changes.
    package var quietInterval = standardQuietInterval
    package var rings: [RingRule] = []

    package static let standardQuietInterval = 30

    package init() {}

    /// Reads the member `rules`, leaving faults with `fields`.
    init(_ fields: inout JSONFields) {
        for (value, pointer) in fields.array("quiet", count: 0...100) ?? [] {
            if let place = value.string.flatMap(JSONPointer.init) {
                quiet.append(place)
            } else {
                fields.fault(at: pointer, JSONPointer.rule)
            }
        }
        quietInterval = fields.integer("quietInterval", in: 1...3_600) ?? Self.standardQuietInterval
        for (value, pointer) in fields.array("rings", count: 0...100) ?? [] {
            var nested = JSONFields(value, pointer: pointer)
            if let rule = RingRule(&nested) { rings.append(rule) }
            fields.absorb(nested)
        }
    }

    /// When a quiet message goes: at once, or with the next turn. One that waits for its turn gives it to the newest.
    ///
    /// - Parameter last: when the one before it goes or went; `nil`: there was none.
    package func quietTurn(after last: Date?, at now: Date) -> Date {
        guard let last else { return now }
        return last > now ? last : max(now, last.addingTimeInterval(Double(quietInterval)))
    }
}

/// A change that rings, and its alert.
package struct RingRule: Sendable {
    /// A change of one member.
    package enum Condition: Sendable {
        case increases(JSONPointer)
        case decreases(JSONPointer)
        case changes(JSONPointer)
        case becomes(JSONPointer, JSONValue)
        /// An item of an array; with a value, one that has all of it.
        case appears(JSONPointer, JSONValue?)
    }

    package let condition: Condition
    private let alert: AlertTemplate
    private let alertsByLocale: LocaleLookup<AlertTemplate>

    /// - Returns: `nil` where `fields` got a fault.
    init?(_ fields: inout JSONFields) {
        var condition: Condition?
        if let value = fields.value("when", required: true) {
            var when = JSONFields(value, pointer: fields.pointer(to: "when"))
            condition = Self.condition(&when)
            fields.absorb(when)
        }
        let advice = "A rule that rings needs a text to show."
        var texts: [AlertTemplate] = []
        if let value = fields.value("alert", required: true) {
            let pointer = fields.pointer(to: "alert")
            _ = fields.alert(value, at: pointer, advice: advice)
            texts = [AlertTemplate(value, pointer, &fields)].compactMap(\.self)
        }
        var byLocale: [String: AlertTemplate] = [:]
        for (tag, text) in fields.alertsByLocale(advice: advice) {
            let pointer = fields.pointer(to: "alertsByLocale") + JSONText.pointer([tag])
            byLocale[tag] = (try? JSONValue(parsing: text)).flatMap { AlertTemplate($0, pointer, &fields) }
        }
        guard let condition, let alert = texts.first else { return nil }
        self.condition = condition
        self.alert = alert
        alertsByLocale = LocaleLookup(byLocale)
    }

    private static func condition(_ when: inout JSONFields) -> Condition? {
        let value = when.value("value")
        var found: [(name: String, condition: Condition)] = []
        for name in ["increases", "decreases", "changes", "becomes", "appears"] {
            guard let place = when.read(name, JSONPointer.rule, JSONPointer.init) else { continue }
            switch name {
            case "increases": found.append((name, .increases(place)))
            case "decreases": found.append((name, .decreases(place)))
            case "changes": found.append((name, .changes(place)))
            case "becomes":
                if value == nil { when.fault("value", "becomes needs a value.") }
                if let value { found.append((name, .becomes(place, value))) }
            default: found.append((name, .appears(place, value)))
            }
        }
        guard let first = found.first, found.count == 1 else {
            when.fault(
                found.last?.name ?? "increases",
                "Exactly one of increases, decreases, changes, becomes and appears was expected.")
            return nil
        }
        if value != nil, first.name != "becomes", first.name != "appears" {
            when.fault("value", "value goes with becomes and appears only.")
        }
        return first.condition
    }

    /// Whether it rings when one state follows another.
    package func holds(from old: JSONValue, to new: JSONValue) -> Bool {
        switch condition {
        case .increases(let place):
            guard let before = JSONNumber(old[place]), let after = JSONNumber(new[place]) else { return false }
            return before < after
        case .decreases(let place):
            guard let before = JSONNumber(old[place]), let after = JSONNumber(new[place]) else { return false }
            return after < before
        case .changes(let place):
            guard let before = old[place], let after = new[place] else {
                return (old[place] == nil) != (new[place] == nil)
            }
            return !before.isSame(as: after)
        case .becomes(let place, let value):
            return new[place]?.isSame(as: value) ?? false && !(old[place]?.isSame(as: value) ?? false)
        case .appears(let place, let pattern):
            var before = old[place]?.elements ?? []
            for item in new[place]?.elements ?? [] where pattern.map({ item.includes($0) }) ?? true {
                guard let index = before.firstIndex(where: { item.isSame(as: $0) }) else { return true }
                before.remove(at: index)
            }
            return false
        }
    }

    /// The alert of a change.
    ///
    /// - Parameter variant: of the audience that gets it; a language's tag chooses the text.
    package func alert(for variant: Variant?, from old: JSONValue, to new: JSONValue) -> [UInt8] {
        (variant.flatMap { alertsByLocale.value(for: $0.rawValue) } ?? alert).text(from: old, to: new)
    }
}

/// An alert whose texts name members of the states in braces.
struct AlertTemplate: Sendable {
    private let alert: JSONValue

    /// Texts of an alert in which members may be named; others, such as a sound, stay as they are.
    private static let texts: Set = ["title", "body", "loc-args"]

    init?(_ alert: JSONValue, _ pointer: String, _ fields: inout JSONFields) {
        self.alert = alert
        guard case .object(let members) = alert.kind else { return nil }
        for member in members where Self.texts.contains(member.name) {
            var isSound = true
            Self.visit(member.value) { text in isSound = isSound && AlertText(text) != nil }
            if !isSound {
                fields.fault(
                    at: pointer + JSONText.pointer([member.name]),
                    "A member's name in braces was expected, such as {home} or {old:home}. Write {{ for a brace.")
                return nil
            }
        }
    }

    private static func visit(_ value: JSONValue, _ body: (String) -> Void) {
        switch value.kind {
        case .string(let text): body(text)
        case .array(let elements): for element in elements { visit(element, body) }
        case .object(let members): for member in members where member.name == "loc-args" { visit(member.value, body) }
        default: break
        }
    }

    func text(from old: JSONValue, to new: JSONValue) -> [UInt8] {
        var json = JSONWriter()
        write(alert, isText: false, to: &json) { AlertText($0)?.filled(from: old, to: new) ?? $0 }
        return json.bytes
    }

    private func write(_ value: JSONValue, isText: Bool, to json: inout JSONWriter, _ fill: (String) -> String) {
        switch value.kind {
        case .string(let text) where isText: json.string(fill(text))
        case .array(let elements) where isText:
            json.array(elements) { writer, element in write(element, isText: true, to: &writer, fill) }
        case .object(let members):
            json.object { object in
                for member in members {
                    object.name(dynamic: member.name)
                    let isText: Bool =
                        if case .object = member.value.kind { false } else { Self.texts.contains(member.name) }
                    write(member.value, isText: isText, to: &object, fill)
                }
            }
        default: json.raw(value.source)
        }
    }
}

/// A text with members in braces.
private struct AlertText {
    private enum Part {
        case text(String)
        case member(JSONPointer, isOld: Bool)
    }

    private var parts: [Part] = []

    /// - Returns: `nil` where a brace is left open, or names nothing.
    init?(_ text: String) {
        var rest = text[...]
        var plain = ""
        while let character = rest.popFirst() {
            guard character == "{" || character == "}" else {
                plain.append(character)
                continue
            }
            if rest.first == character {
                rest.removeFirst()
                plain.append(character)
                continue
            }
            guard character == "{", let end = rest.firstIndex(of: "}") else { return nil }
            var name = rest[..<end]
            rest = rest[rest.index(after: end)...]
            let isOld = name.hasPrefix("old:")
            if isOld { name = name.dropFirst(4) }
            guard !name.isEmpty,
                let place = name.hasPrefix("/") ? JSONPointer(String(name)) : JSONPointer(member: String(name))
            else { return nil }
            parts.append(.text(plain))
            parts.append(.member(place, isOld: isOld))
            plain = ""
        }
        parts.append(.text(plain))
    }

    func filled(from old: JSONValue, to new: JSONValue) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .member(let place, let isOld): Self.shown((isOld ? old : new)[place])
            }
        }.joined()
    }

    private static func shown(_ value: JSONValue?) -> String {
        switch value?.kind {
        case nil, .null?: ""
        case .string(let text)?: text
        default: value.map { String(decoding: $0.source, as: UTF8.self) } ?? ""
        }
    }
}
