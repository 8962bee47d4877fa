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
            var name = ""
            var isEscape = false
            for character in part {
                if isEscape {
                    guard character == "0" || character == "1" else { return nil }
                    name.append(character == "0" ? "~" : "/")
                    isEscape = false
                } else if character == "~" {
                    isEscape = true
                } else {
                    name.append(character)
                }
            }
            guard !isEscape else { return nil }
            names.append(name)
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
        isSame(as: other, ignored.map { $0.names[...] })
    }

    private func isSame(as other: JSONValue, _ ignored: [ArraySlice<String>]) -> Bool {
        switch (kind, other.kind) {
        case (.null, .null): return true
        case (.bool(let one), .bool(let another)): return one == another
        case (.string(let one), .string(let another)): return one.utf8.elementsEqual(another.utf8)
        case (.number(let one), .number(let another)): return one == another || JSONNumber(one) == JSONNumber(another)
        case (.array(let some), .array(let others)):
            return some.count == others.count && zip(some, others).allSatisfy { $0.isSame(as: $1, []) }
        case (.object(let some), .object(let others)):
            let left = Dictionary(some.map { ($0.name, $0.value) }) { first, _ in first }
            let right = Dictionary(others.map { ($0.name, $0.value) }) { first, _ in first }
            return Set(left.keys).union(right.keys).allSatisfy { name in
                let within = ignored.filter { $0.first == name }.map { $0.dropFirst() }
                if within.contains(where: \.isEmpty) { return true }
                // If only one of the two objects has a member, the objects are different.
                guard let one = left[name], let another = right[name] else { return false }
                return one.isSame(as: another, within)
            }
        default: return false
        }
    }

    /// Whether this value contains `pattern`: this value is the same as `pattern`, or is an object that contains each
    /// member of `pattern`.
    package func includes(_ pattern: JSONValue) -> Bool {
        guard case .object = kind, case .object(let members) = pattern.kind else { return isSame(as: pattern) }
        return members.allSatisfy { self[$0.name]?.includes($0.value) ?? false }
    }
}

/// A JSON value by what it says: two values have the same identity if `isSame` is true of them.
enum JSONIdentity: Hashable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string([UInt8])
    case array([JSONIdentity])
    case object([String: JSONIdentity])

    init(_ value: JSONValue) {
        switch value.kind {
        case .null: self = .null
        case .bool(let isTrue): self = .bool(isTrue)
        case .number(let text): self = .number(JSONNumber(text))
        case .string(let text): self = .string(Array(text.utf8))
        case .array(let elements): self = .array(elements.map(Self.init))
        case .object(let members):
            self = .object(Dictionary(members.map { ($0.name, Self($0.value)) }) { first, _ in first })
        }
    }
}
