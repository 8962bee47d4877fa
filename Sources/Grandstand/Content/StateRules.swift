internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import JSON

// Which changes of a state are quiet and which ring, as a content type declares them.

extension Contract.StateRules {
    /// Records what openapi.yaml does not exclude: members that no content has, and conditions that no content meets.
    func verify(_ members: [ContentSchema], _ faults: inout RequestFaults) throws(Problem) {
        for (index, text) in (quiet ?? []).enumerated() { members.require(text, at: "/rules/quiet/\(index)", &faults) }
        for (index, ring) in (rings ?? []).enumerated() {
            try ring.verify(at: "/rules/rings/\(index)", members, &faults)
        }
    }

    /// When a quiet message is sent: at once, but not before `quietInterval` has passed since the previous quiet
    /// message was sent. If the previous quiet message still waits, the new message replaces it and is sent at the time
    /// of the previous message.
    ///
    /// - Parameter last: when the previous quiet message is or was sent; `nil`: there was none.
    func nextQuietAt(after last: Date?, at now: Date) -> Date {
        guard let last else { return now }
        return last > now ? last : max(now, last.addingTimeInterval(Double(quietInterval ?? 30)))
    }
}

/// The schemas of all versions of a type, which say what members its contents may have; empty: they are not known, and
/// every member is allowed.
extension [ContentSchema] {
    /// Records a fault if a text in the rules is not a JSON Pointer, or no version has the member.
    fileprivate func require(_ text: String, at pointer: String, _ faults: inout RequestFaults) {
        guard let place = JSONPointer(text) else { return faults.add(pointer, JSONPointer.rule) }
        require(place, at: pointer, &faults)
    }

    fileprivate func require(_ place: JSONPointer, at pointer: String, _ faults: inout RequestFaults) {
        guard !isEmpty, !contains(where: { $0.mayHave(place) }) else { return }
        faults.add(
            pointer,
            "No version's schema has the member \(place). Correct its name, or add it to the schema of a version. A pointer "
                + "does not lead into the items of an array.")
    }
}

extension Contract.RingCondition {
    /// The changes that are named, each with its member. A valid condition has one.
    private var given: [(name: String, place: String)] {
        [
            ("increases", increases), ("decreases", decreases), ("changes", changes), ("becomes", becomes),
            ("appears", appears),
        ].compactMap { name, place in place.map { (name, $0) } }
    }

    private var place: JSONPointer? { given.first.flatMap { JSONPointer($0.place) } }

    fileprivate func verify(
        at pointer: String, _ members: [ContentSchema], _ faults: inout RequestFaults
    ) throws(Problem) {
        for (name, place) in given { members.require(place, at: "\(pointer)/\(name)", &faults) }
        guard given.count == 1, let place else {
            return faults.add(
                "\(pointer)/\(given.last?.name ?? "increases")",
                "Exactly one of increases, decreases, changes, becomes and appears was expected.")
        }
        if becomes != nil, value == nil { faults.add("\(pointer)/value", "becomes needs a value.") }
        if value != nil, becomes == nil, appears == nil {
            faults.add("\(pointer)/value", "The member value is allowed only with becomes or appears.")
        }
        if let obstacle = try obstacle(at: place, members) {
            faults.add("\(pointer)/\(given[0].name)", "This never rings: \(obstacle)")
        }
    }

    /// Why no content that a version can decode meets the condition; `nil`: one may.
    private func obstacle(at place: JSONPointer, _ schemas: [ContentSchema]) throws(Problem) -> String? {
        if schemas.isEmpty || changes != nil { return nil }
        if becomes != nil {
            let value = try value?.tree()
            let isAllowed = schemas.contains { schema in value.map { schema.mayHave($0, at: place) } ?? true }
            return isAllowed ? nil : "no version's schema allows this value of \(place)."
        }
        let isArray = appears != nil
        let types: Set<ContentSchema.ValueType> = isArray ? [.array] : [.number, .integer]
        guard !schemas.contains(where: { $0.mayHave(types, at: place) }) else { return nil }
        return "\(place) is \(isArray ? "an array" : "a number") in no version's schema."
    }

    /// Whether the change from `old` to `new` matches.
    func holds(from old: JSONValue, to new: JSONValue) -> Bool {
        guard let place else { return false }
        let (before, after, value) = (old[place], new[place], try? value?.value)
        if increases != nil { return Self.isLess(before, after) }
        if decreases != nil { return Self.isLess(after, before) }
        if changes != nil { return !Self.isSame(before, after) }
        if becomes != nil { return Self.isSame(after, value) && !Self.isSame(before, value) }
        return !Self.added(value, from: before, to: after).isEmpty
    }

    /// Whether `newer` undoes the change from `old` to `state`, because of which the rule matched.
    func isUndone(from old: JSONValue, to state: JSONValue, by newer: JSONValue) -> Bool {
        guard let place else { return false }
        if increases != nil || decreases != nil { return holds(from: newer, to: state) }
        guard appears != nil else { return Self.isSame(old[place], newer[place]) }
        let kept = Set((newer[place]?.elements ?? []).map { CanonicalJSON($0) })
        let added = Self.added(try? value?.value, from: old[place], to: state[place])
        return kept.isDisjoint(with: added.map { CanonicalJSON($0) })
    }

    private static func isLess(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
        guard case .number(let one)? = one?.kind, case .number(let other)? = other?.kind else { return false }
        return JSONNumber(one) < JSONNumber(other)
    }

    private static func isSame(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
        guard let one, let other else { return (one == nil) == (other == nil) }
        return one.isSame(as: other)
    }

    /// The items of the array `new` that include `pattern` and that the array `old` has fewer times.
    private static func added(_ pattern: JSONValue?, from old: JSONValue?, to new: JSONValue?) -> [JSONValue] {
        var before: [CanonicalJSON: Int] = [:]
        for item in old?.elements ?? [] { before[CanonicalJSON(item), default: 0] += 1 }
        return (new?.elements ?? []).filter { item in
            guard pattern.map({ item.includes($0) }) ?? true else { return false }
            guard let count = before[CanonicalJSON(item)], count > 0 else { return true }
            before[CanonicalJSON(item)] = count - 1
            return false
        }
    }
}

extension Contract.RingRule {
    fileprivate func verify(
        at pointer: String, _ members: [ContentSchema], _ faults: inout RequestFaults
    ) throws(Problem) {
        let advice = "A rule that rings needs a text to show."
        try when.verify(at: pointer + "/when", members, &faults)
        faults.requireText(of: alert, at: pointer + "/alert", advice)
        AlertTemplate(alert: try alert.tree()).verify(at: pointer + "/alert", members, &faults)
        let byLocale = alertsByLocale ?? [:]
        faults.requireTexts(of: byLocale, at: pointer + "/alertsByLocale", advice)
        for (tag, alert) in byLocale.sorted(by: { $0.key < $1.key }) {
            let pointer = pointer + "/alertsByLocale" + PointerText.pointer([tag])
            AlertTemplate(alert: try alert.tree()).verify(at: pointer, members, &faults)
        }
    }

    /// The alert of a change; `nil`: its title would be empty, or its body if it has no title.
    ///
    /// - Parameter variant: the audience's variant; if it is a language tag, it chooses the text.
    func alert(for variant: Variant?, from old: JSONValue, to new: JSONValue) -> [UInt8]? {
        let own = variant.flatMap { LocaleLookup(alertsByLocale ?? [:]).value(for: $0.rawValue) }
        return (try? (own ?? alert).value).flatMap { AlertTemplate(alert: $0).render(from: old, to: new) }
    }
}

/// An alert with placeholders: members of the states, in braces.
private struct AlertTemplate {
    let alert: JSONValue

    /// The members of an alert whose texts may have placeholders. Other members, such as a sound, stay as they are.
    private static let textMembers: Set = ["title", "body", "loc-args"]

    func verify(at pointer: String, _ types: [ContentSchema], _ faults: inout RequestFaults) {
        guard alert.source.count <= APNsLimits.devicePayload else {
            return faults.add(
                pointer, "At most \(APNsLimits.devicePayload) bytes were expected; there are \(alert.source.count).")
        }
        for part in alert.members {
            let pointer = pointer + PointerText.pointer([part.name])
            var (places, isValid) = ([JSONPointer](), true)
            var json = JSONWriter()
            Self.write(part.value, as: part.name, to: &json) { text in
                let filled = Self.filled(text) { place, _ in
                    places.append(place)
                    return ""
                }
                isValid = isValid && filled != nil
                return text
            }
            guard isValid else {
                return faults.add(
                    pointer,
                    "A member's name in braces was expected, such as {home} or {old:home}. Write {{ for a brace.")
            }
            for place in places { types.require(place, at: pointer, &faults) }
        }
    }

    /// The alert's JSON with its placeholders filled in; `nil`: its title would be empty, or its body if it has no title.
    /// Once the inserted texts are longer than a message to APNs may be, no more are inserted, because the message is
    /// refused for its size.
    func render(from old: JSONValue, to new: JSONValue) -> [UInt8]? {
        var room = APNsLimits.broadcastPayload
        func filled(_ text: String) -> String {
            let filled = Self.filled(text) { place, isOld in
                guard room > 0 else { return "" }
                let value = (isOld ? old : new)[place]
                let text = value.map { $0.isNull ? "" : $0.string ?? String(decoding: $0.source, as: UTF8.self) } ?? ""
                room -= text.utf8.count
                return text
            }
            return filled ?? text
        }
        let headline = ["title", "body"].lazy.compactMap { alert[$0] }.first { $0.string != "" }
        if let text = headline?.string, filled(text).allSatisfy(\.isWhitespace) { return nil }
        room = APNsLimits.broadcastPayload
        var json = JSONWriter()
        Self.write(alert, as: "", to: &json, filled)
        return json.bytes
    }

    /// A text with its members in braces replaced; `nil`: a brace is not closed, or is empty.
    private static func filled(_ text: String, _ shown: (_ place: JSONPointer, _ isOld: Bool) -> String) -> String? {
        var (rest, filled) = (text[...], "")
        while let character = rest.popFirst() {
            if character != "{" && character != "}" || rest.first == character {
                // A brace that is written twice stands for itself.
                if character == "{" || character == "}" { rest.removeFirst() }
                filled.append(character)
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
            filled += shown(place, isOld)
        }
        return filled
    }

    /// Writes the member `name` of an alert, with its texts replaced.
    private static func write(
        _ value: JSONValue, as name: String, to json: inout JSONWriter, _ fill: (String) -> String
    ) {
        switch value.kind {
        case .string(let text) where textMembers.contains(name): json.string(fill(text))
        case .array(let elements) where textMembers.contains(name):
            json.array(elements) { writer, element in write(element, as: name, to: &writer, fill) }
        case .object(let members):
            json.object { object in
                for member in members {
                    object.name(dynamic: member.name)
                    write(member.value, as: member.name, to: &object, fill)
                }
            }
        default: json.raw(value.source)
        }
    }
}
