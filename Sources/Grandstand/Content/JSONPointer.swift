internal import GrandstandContract
package import JSON

/// The place of a member in a content: a JSON Pointer (RFC 6901) to members of objects, such as `/team/name`.
package struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    package let names: [String]

    package static let rule = TextRule.jSONPointer.sentence

    /// - Returns: `nil` for text that is not a pointer to a member.
    package init?(_ text: String) {
        guard text.hasPrefix("/"), text.unicodeScalars.count <= 200 else { return nil }
        var names: [String] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let escapes = part.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
            guard escapes.allSatisfy({ $0.first == "0" || $0.first == "1" }) else { return nil }
            names.append(String(part).replacing("~1", with: "/").replacing("~0", with: "~"))
        }
        guard text.utf8.count > 1 else { return nil }
        self.names = names
    }

    package init(member name: String) { names = [name] }

    package var description: String { JSONText.pointer(names) }
}

extension JSONValue {
    /// The member at a place; `nil`: there is none.
    package subscript(pointer: JSONPointer) -> JSONValue? {
        pointer.names.reduce(Optional(self)) { value, name in value?[name] }
    }

    /// Whether this value and `other` are the same JSON value. Numbers are compared by their value, objects without
    /// regard to the order of members.
    ///
    /// - Parameter ignored: places that are not compared, with everything inside them.
    package func isSame(as other: JSONValue, ignoring ignored: [JSONPointer] = []) -> Bool {
        let places = ignored.map { $0.names[...] }
        return JSONIdentity(self, without: places) == JSONIdentity(other, without: places)
    }

    /// Whether this value contains `pattern`: this value is the same as `pattern`, or is an object that contains each
    /// member of `pattern`.
    package func includes(_ pattern: JSONValue) -> Bool {
        guard case .object = kind, case .object(let members) = pattern.kind else { return isSame(as: pattern) }
        return members.allSatisfy { self[$0.name]?.includes($0.value) ?? false }
    }
}

/// A JSON value by what it says.
enum JSONIdentity: Hashable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string([UInt8])
    case array([JSONIdentity])
    case object([String: JSONIdentity])

    /// - Parameter places: what is left out.
    init(_ value: JSONValue, without places: [ArraySlice<String>] = []) {
        switch value.kind {
        case .null: self = .null
        case .bool(let isTrue): self = .bool(isTrue)
        case .number(let text): self = .number(JSONNumber(text))
        case .string(let text): self = .string(Array(text.utf8))
        case .array(let elements): self = .array(elements.map { Self($0) })
        case .object(let members):
            var kept: [String: JSONIdentity] = [:]
            for (name, value) in members {
                let within = places.filter { $0.first == name }.map { $0.dropFirst() }
                if !within.contains(where: \.isEmpty) { kept[name] = Self(value, without: within) }
            }
            self = .object(kept)
        }
    }
}
