internal import APNsWire
package import FoundationEssentials
package import GrandstandContract
package import JSON

/// Which changes of a state are quiet and which ring, as a content type declares them.
package struct StateRules: Sendable {
    /// Members whose changes alone are not urgent.
    package var quiet: [JSONPointer] = []
    /// Seconds between two messages in which only members of `quiet` have changed.
    package var quietInterval = standardQuietInterval
    package var rings: [RingRule] = []

    package static let standardQuietInterval = 30

    package init() {}

    /// Reads the member `rules` of a content type.
    ///
    /// - Parameter members: which members a content may have.
    init(_ declared: RawJSON, _ members: ContentMembers, _ faults: inout RequestFaults) throws(Problem) {
        let draft: Contract.StateRules = try declared.tree().checked()
        for (index, text) in (draft.quiet ?? []).enumerated() {
            if let place = members.place(text, at: "/rules/quiet/\(index)", &faults) { quiet.append(place) }
        }
        quietInterval = draft.quietInterval ?? Self.standardQuietInterval
        for (index, ring) in (draft.rings ?? []).enumerated() {
            if let rule = try RingRule(ring, at: "/rules/rings/\(index)", members, &faults) { rings.append(rule) }
            let earlier = draft.rings?[..<index].firstIndex { $0.when.covers(ring.when) }
            if members.areNew, let earlier {
                faults.add(
                    "/rules/rings/\(index)",
                    "This rule never rings: the rule \(earlier) matches whenever this one does, and the first that matches "
                        + "rings. Put this one before it.")
            }
        }
    }

    /// The rules that are stored with a content type; none, if this version cannot read them.
    package init(stored declared: RawJSON?) {
        var faults = RequestFaults(at: "")
        self =
            declared.flatMap { try? StateRules($0, ContentMembers(schemas: [], areNew: false), &faults) }
            ?? StateRules()
    }

    /// When a quiet message is sent: at once, but not before `quietInterval` has passed since the previous quiet
    /// message was sent. If the previous quiet message still waits, the new message replaces it and is sent at the time
    /// of the previous message.
    ///
    /// - Parameter last: when the previous quiet message is or was sent; `nil`: there was none.
    package func quietTurn(after last: Date?, at now: Date) -> Date {
        guard let last else { return now }
        return last > now ? last : max(now, last.addingTimeInterval(Double(quietInterval)))
    }
}

/// The members that the contents of a type may have, as its versions declare them.
struct ContentMembers {
    /// The schemas of all versions; empty: they are not known, and every member is allowed.
    let schemas: [ContentSchema]
    /// Whether the rules are declared now. Stored rules may be older than a check.
    let areNew: Bool

    /// Reads a JSON Pointer in the rules; `nil`: it is not one. A pointer to a member that no version has is a fault,
    /// too.
    func place(_ text: String, at pointer: String, _ faults: inout RequestFaults) -> JSONPointer? {
        guard let place = JSONPointer(text) else {
            faults.add(pointer, JSONPointer.rule)
            return nil
        }
        require(place, at: pointer, &faults)
        return place
    }

    func require(_ place: JSONPointer, at pointer: String, _ faults: inout RequestFaults) {
        guard !schemas.isEmpty, !schemas.contains(where: { $0.mayHave(place) }) else { return }
        if let array = schemas.lazy.compactMap({ $0.array(on: place) }).first {
            return faults.add(
                pointer,
                "\(array) is an array, and a pointer does not lead into its items. Name the whole array, or add the value "
                    + "to the content as a member outside of it.")
        }
        faults.add(
            pointer,
            "No version's schema has the member \(place). Correct its name, or add it to the schema of a version.")
    }

    /// Why no content that a version can decode meets the condition; `nil`: one may.
    func obstacle(to condition: RingRule.Condition) -> String? {
        switch condition {
        case .increases(let place), .decreases(let place):
            schemas.isEmpty || schemas.contains { $0.mayHave([.number, .integer], at: place) }
                ? nil : "This never rings: \(place) is a number in no version's schema."
        case .appears(let place, _):
            schemas.isEmpty || schemas.contains { $0.mayHave([.array], at: place) }
                ? nil : "This never rings: \(place) is an array in no version's schema."
        case .becomes(let place, let value):
            schemas.isEmpty || schemas.contains { $0.mayHave(value, at: place) }
                ? nil : "This never rings: no version's schema allows this value of \(place)."
        case .changes: nil
        }
    }
}

extension Contract.RingCondition {
    /// Whether this condition holds whenever `other` holds.
    fileprivate func covers(_ other: Self) -> Bool {
        let place = [other.increases, other.decreases, other.changes, other.becomes, other.appears].compactMap(\.self)
            .first.flatMap(JSONPointer.init)
        if let changes = changes.flatMap(JSONPointer.init) { return place?.names.starts(with: changes.names) ?? false }
        return self == other || appears != nil && appears == other.appears && value == nil
    }
}

/// A rule: if a state changes in this way, the message has this alert.
package struct RingRule: Sendable {
    /// A change of one member.
    package enum Condition: Sendable {
        case increases(JSONPointer)
        case decreases(JSONPointer)
        case changes(JSONPointer)
        case becomes(JSONPointer, JSONValue)
        /// An item is added to an array. With a value, only an item that includes the value counts.
        case appears(JSONPointer, JSONValue?)
    }

    package let condition: Condition
    private let alert: AlertTemplate
    private let alertsByLocale: LocaleLookup<AlertTemplate>

    /// - Returns: `nil` if the draft is not valid; `faults` then has the reason.
    init?(
        _ draft: Contract.RingRule, at pointer: String, _ members: ContentMembers, _ faults: inout RequestFaults
    ) throws(Problem) {
        let advice = "A rule that rings needs a text to show."
        let condition = try Self.condition(draft.when, at: pointer + "/when", members, &faults)
        faults.requireText(of: draft.alert, at: pointer + "/alert", advice)
        let alert = AlertTemplate(try draft.alert.tree(), pointer + "/alert", members, &faults)
        faults.requireTexts(of: draft.alertsByLocale ?? [:], at: pointer + "/alertsByLocale", advice)
        var byLocale: [String: AlertTemplate] = [:]
        for (tag, alert) in (draft.alertsByLocale ?? [:]).sorted(by: { $0.key < $1.key }) {
            byLocale[tag] = AlertTemplate(
                try alert.tree(), pointer + "/alertsByLocale" + JSONText.pointer([tag]), members, &faults)
        }
        guard let condition, let alert else { return nil }
        self.condition = condition
        self.alert = alert
        alertsByLocale = LocaleLookup(byLocale)
    }

    private static func condition(
        _ when: Contract.RingCondition, at pointer: String, _ members: ContentMembers, _ faults: inout RequestFaults
    ) throws(Problem) -> Condition? {
        let value = try when.value.map { value throws(Problem) in try value.tree() }
        var found: [(name: String, condition: Condition)] = []
        let places = [
            ("increases", when.increases), ("decreases", when.decreases), ("changes", when.changes),
            ("becomes", when.becomes), ("appears", when.appears),
        ]
        for case (let name, let text?) in places {
            guard let place = members.place(text, at: "\(pointer)/\(name)", &faults) else { continue }
            switch name {
            case "increases": found.append((name, .increases(place)))
            case "decreases": found.append((name, .decreases(place)))
            case "changes": found.append((name, .changes(place)))
            case "becomes":
                if let value {
                    found.append((name, .becomes(place, value)))
                } else {
                    faults.add("\(pointer)/value", "becomes needs a value.")
                }
            default: found.append((name, .appears(place, value)))
            }
        }
        guard let first = found.first, found.count == 1 else {
            faults.add(
                "\(pointer)/\(found.last?.name ?? "increases")",
                "Exactly one of increases, decreases, changes, becomes and appears was expected.")
            return nil
        }
        if value != nil, first.name != "becomes", first.name != "appears" {
            faults.add("\(pointer)/value", "The member value is allowed only with becomes or appears.")
        }
        if let obstacle = members.obstacle(to: first.condition) { faults.add("\(pointer)/\(first.name)", obstacle) }
        return first.condition
    }

    /// Whether the change from `old` to `new` matches the rule.
    package func holds(from old: JSONValue, to new: JSONValue) -> Bool {
        switch condition {
        case .increases(let place): return Self.isLess(old[place], new[place])
        case .decreases(let place): return Self.isLess(new[place], old[place])
        case .changes(let place):
            return !Self.isSame(old[place], new[place])
        case .becomes(let place, let value):
            return Self.isSame(new[place], value) && !Self.isSame(old[place], value)
        case .appears(let place, let pattern):
            return !Self.added(pattern, from: old[place], to: new[place]).isEmpty
        }
    }

    /// Whether `newer` undoes the change from `old` to `state`, because of which the rule matched.
    func isUndone(from old: JSONValue, to state: JSONValue, by newer: JSONValue) -> Bool {
        switch condition {
        case .increases, .decreases: return holds(from: newer, to: state)
        case .changes(let place), .becomes(let place, _): return Self.isSame(old[place], newer[place])
        case .appears(let place, let pattern):
            let kept = Set((newer[place]?.elements ?? []).map { JSONIdentity($0) })
            return kept.isDisjoint(
                with: Self.added(pattern, from: old[place], to: state[place]).map { JSONIdentity($0) })
        }
    }

    private static func isLess(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
        guard let one = JSONNumber(one), let other = JSONNumber(other) else { return false }
        return one < other
    }

    private static func isSame(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
        guard let one, let other else { return (one == nil) == (other == nil) }
        return one.isSame(as: other)
    }

    /// The items of the array `new` that include `pattern` and that the array `old` has fewer times.
    private static func added(_ pattern: JSONValue?, from old: JSONValue?, to new: JSONValue?) -> [JSONValue] {
        var before: [JSONIdentity: Int] = [:]
        for item in old?.elements ?? [] { before[JSONIdentity(item), default: 0] += 1 }
        return (new?.elements ?? []).filter { item in
            guard pattern.map({ item.includes($0) }) ?? true else { return false }
            guard let count = before[JSONIdentity(item)], count > 0 else { return true }
            before[JSONIdentity(item)] = count - 1
            return false
        }
    }

    /// The alert of a change; `nil`: its title would be empty, or its body if it has no title.
    ///
    /// - Parameter variant: the audience's variant; if it is a language tag, it chooses the text.
    package func alert(for variant: Variant?, from old: JSONValue, to new: JSONValue) -> [UInt8]? {
        (variant.flatMap { alertsByLocale.value(for: $0.rawValue) } ?? alert).text(from: old, to: new)
    }
}

/// An alert with placeholders: members of the states, in braces.
struct AlertTemplate: Sendable {
    private let alert: JSONValue

    /// The members of an alert whose texts may have placeholders. Other members, such as a sound, stay as they are.
    private static let texts: Set = ["title", "body", "loc-args"]

    init?(_ alert: JSONValue, _ pointer: String, _ members: ContentMembers, _ faults: inout RequestFaults) {
        self.alert = alert
        guard case .object(let parts) = alert.kind else { return nil }
        guard alert.source.count <= APNsLimits.devicePayload else {
            faults.add(
                pointer, "At most \(APNsLimits.devicePayload) bytes were expected; there are \(alert.source.count).")
            return nil
        }
        for part in parts where Self.texts.contains(part.name) {
            let pointer = pointer + JSONText.pointer([part.name])
            var texts: [AlertText?] = []
            Self.visit(part.value) { texts.append(AlertText($0)) }
            guard !texts.contains(where: { $0 == nil }) else {
                faults.add(
                    pointer,
                    "A member's name in braces was expected, such as {home} or {old:home}. Write {{ for a brace.")
                return nil
            }
            for place in texts.compactMap(\.self).flatMap(\.members) { members.require(place, at: pointer, &faults) }
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

    /// The alert's JSON with its placeholders filled in; `nil`: its title would be empty, or its body if it has no title.
    /// Once the inserted texts are longer than a message to APNs may
    /// be, the rest is not filled in, because the message is refused for its size.
    func text(from old: JSONValue, to new: JSONValue) -> [UInt8]? {
        let headline = ["title", "body"].lazy.compactMap { alert[$0] }.first { $0.string != "" }
        if let text = headline?.string.flatMap(AlertText.init) {
            var room = APNsLimits.broadcastPayload
            guard text.filled(from: old, to: new, room: &room).contains(where: { !$0.isWhitespace }) else { return nil }
        }
        var json = JSONWriter()
        var room = APNsLimits.broadcastPayload
        write(alert, isText: false, to: &json) { text in
            guard room > 0, let filled = AlertText(text)?.filled(from: old, to: new, room: &room) else { return text }
            return filled
        }
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

    /// - Returns: `nil` if a brace is not closed, or is empty.
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

    /// The members that the text names.
    var members: [JSONPointer] {
        parts.compactMap { if case .member(let place, _) = $0 { place } else { nil } }
    }

    /// - Parameter room: the bytes that members' texts may still take. Once they are used up, the rest of the text is
    ///   left out.
    func filled(from old: JSONValue, to new: JSONValue, room: inout Int) -> String {
        var filled = ""
        for part in parts where room > 0 {
            switch part {
            case .text(let text): filled += text
            case .member(let place, let isOld):
                let text = Self.shown((isOld ? old : new)[place])
                filled += text
                room -= text.utf8.count
            }
        }
        return filled
    }

    private static func shown(_ value: JSONValue?) -> String {
        switch value?.kind {
        case nil, .null?: ""
        case .string(let text)?: text
        default: value.map { String(decoding: $0.source, as: UTF8.self) } ?? ""
        }
    }
}
