internal import FoundationEssentials
package import GrandstandContract
package import JSON

/// A content type in a rehearsal: its declaration in the rehearsal, and example contents for its rules. Pure.
package struct RehearsalContent: Sendable {
    package let type: ContentType
    /// The body of its declaration.
    private let body: JSONValue

    package init(_ bundleID: BundleID, _ name: String, _ declared: Contract.ContentTypeDraft) throws(Problem) {
        body = try JSONValue(parsing: JSONWriter.text(declared))
        type = try ContentType(bundleID, name, body: body)
    }

    /// The declaration in a rehearsal. The rehearsal adds a member with a mark to each content, to recognise its
    /// messages. Every version can decode this member, and a change of it alone is quiet. The interval between quiet
    /// messages is divided by `speed`.
    ///
    /// - Parameters:
    ///   - mark: the name of the member with the mark.
    ///   - speed: seconds of the day in one second of the rehearsal.
    package func declaration(marked mark: String, speed: Double) -> [UInt8] {
        let name = JSONText.quoted(mark)
        let quiet = (type.rules.quiet.map(\.description) + [JSONText.pointer([mark])]).map(JSONText.quoted)
        let interval = max(1, Int((Double(type.rules.quietInterval) / speed).rounded()))
        let versions = (body["versions"]?.elements ?? []).map { version in
            String(decoding: Self.patched(version, #"{"schema": {"properties": {\#(name): true}}}"#), as: UTF8.self)
        }
        return Self.patched(
            body,
            #"{"versions": [\#(versions.joined(separator: ","))], "#
                + #""rules": {"quiet": [\#(quiet.joined(separator: ","))], "quietInterval": \#(interval)}}"#)
    }

    /// A content that all versions can decode, if there is one.
    package var example: JSONValue? {
        type.versions.reduce(try? JSONValue(parsing: Array("{}".utf8))) { content, version in
            try? JSONValue(parsing: Self.patched(content, version.schema.example))
        }
    }

    /// The content after a change that matches a ring rule of the content type (`RingRule`). Takes the first rule from
    /// index `turn` on for which such a change is possible; the first rule follows the last one.
    ///
    /// - Returns: `nil`: no rule has such a change, or after each such change a version of the app could not decode
    ///   another place of the content.
    package func ringing(after content: JSONValue, turn: Int) -> JSONValue? {
        let rings = type.rules.rings
        let faults = type.faults(of: content.bytes, at: "")
        for place in rings.indices {
            let rule = rings[(turn + place) % rings.count]
            guard let patch = rule.condition.patch(of: content),
                let changed = try? JSONValue(parsing: Self.patched(content, patch)),
                rule.holds(from: content, to: changed), type.faults(of: changed.bytes, at: "") == faults
            else { continue }
            return changed
        }
        return nil
    }

    private static func patched(_ value: JSONValue?, _ patch: String) -> [UInt8] {
        guard let patch = try? JSONValue(parsing: Array(patch.utf8)) else { return value?.bytes ?? [] }
        return MergePatch.apply(patch, to: value)
    }
}

extension RingRule.Condition {
    /// A merge patch whose change matches the condition; `nil`: there is none.
    fileprivate func patch(of content: JSONValue) -> String? {
        switch self {
        case .increases(let place): Self.number(content[place], by: 1).map { Self.patch(place, $0) }
        case .decreases(let place): Self.number(content[place], by: -1).map { Self.patch(place, $0) }
        case .becomes(let place, let value): Self.patch(place, Self.text(value))
        case .changes(let place): Self.other(content[place]).map { Self.patch(place, $0) }
        case .appears(let place, let pattern):
            content[place]?.elements.map { elements in
                let items = (elements.map(Self.text) + [pattern.map(Self.text) ?? elements.last.map(Self.text) ?? "{}"])
                return Self.patch(place, "[\(items.joined(separator: ","))]")
            }
        }
    }

    private static func patch(_ place: JSONPointer, _ value: String) -> String {
        place.names.reversed().reduce(value) { value, name in "{\(JSONText.quoted(name)): \(value)}" }
    }

    private static func text(_ value: JSONValue) -> String { String(decoding: value.source, as: UTF8.self) }

    private static func number(_ value: JSONValue?, by step: Int) -> String? {
        if let whole = value?.integer { return String(whole + step) }
        guard case .number(let text)? = value?.kind, let number = Double(text) else { return nil }
        return String(number + Double(step))
    }

    private static func other(_ value: JSONValue?) -> String? {
        switch value?.kind {
        case .bool(let isTrue)?: isTrue ? "false" : "true"
        case .string(let text)?: JSONText.quoted(text + "'")
        case .number?: number(value, by: 1)
        default: nil
        }
    }
}

extension ContentSchema {
    /// A content that fits the schema. Only schemas that are made from Swift types are supported.
    fileprivate var example: String { example(of: 0, depth: 0) }

    private func example(of index: Int, depth: Int) -> String {
        let node = nodes[index]
        guard depth < Self.deepestExample * 4 else { return "null" }
        if let choice = node.choices.first?.first { return String(decoding: choice.source, as: UTF8.self) }
        if let reference = node.reference { return example(of: reference, depth: depth + 1) }
        if let alternative = depth < Self.deepestExample ? node.anyOf.first : node.anyOf.last {
            return example(of: alternative, depth: depth + 1)
        }
        switch node.types?.first ?? (node.properties.isEmpty && depth > 0 ? .null : .object) {
        case .null: return "null"
        case .boolean: return "false"
        case .array: return "[]"
        case .number, .integer:
            if let minimum = node.minimum, JSONNumber("0") < minimum { return node.minimumText }
            if let maximum = node.maximum, maximum < JSONNumber("0") { return node.maximumText }
            return "0"
        case .string:
            return switch node.format {
            case .uuid: #""1e0f9a8b-7c6d-4e5f-8a3b-2c1d0e9f8a7b""#
            case .uri: #""https://example.com/""#
            default: #""""#
            }
        case .object:
            let names = node.properties.keys.filter { depth < Self.deepestExample || node.required.contains($0) }
            let members = names.sorted().map { name in
                "\(JSONText.quoted(name)): \(example(of: node.properties[name] ?? 0, depth: depth + 1))"
            }
            return "{\(members.joined(separator: ", "))}"
        }
    }

    private static let deepestExample = 3
}
