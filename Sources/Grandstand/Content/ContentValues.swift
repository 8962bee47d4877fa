internal import GrandstandContract
package import JSON

/// The place of a member in a content: a JSON Pointer (RFC 6901) to members of objects, such as `/team/name`.
package struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    package let names: [String]

    package static let rule = TextRule.jSONPointer.sentence

    /// - Returns: `nil` for text that is not a pointer to a member.
    package init?(_ text: String) {
        let parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        // "~" is written as "~0", "/" as "~1".
        let escapes = parts.flatMap { $0.split(separator: "~", omittingEmptySubsequences: false).dropFirst() }
        guard text.hasPrefix("/"), 2...200 ~= text.unicodeScalars.count,
            escapes.allSatisfy({ $0.first == "0" || $0.first == "1" })
        else { return nil }
        names = parts.map { String($0).replacing("~1", with: "/").replacing("~0", with: "~") }
    }

    init(member name: String) { names = [name] }

    package var description: String { PointerText.pointer(names) }
}

extension JSONValue {
    /// The members of an object in their order; empty for any other value.
    package var members: [(name: String, value: JSONValue)] {
        if case .object(let members) = kind { members } else { [] }
    }

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
        return CanonicalJSON(self, without: places) == CanonicalJSON(other, without: places)
    }

    /// Whether this value contains `pattern`: this value is the same as `pattern`, or is an object that contains each
    /// member of `pattern`.
    package func includes(_ pattern: JSONValue) -> Bool {
        guard case .object = kind, case .object(let members) = pattern.kind else { return isSame(as: pattern) }
        return members.allSatisfy { self[$0.name]?.includes($0.value) ?? false }
    }
}

/// A JSON value by what it says.
enum CanonicalJSON: Hashable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string([UInt8])
    case array([CanonicalJSON])
    case object([String: CanonicalJSON])

    /// - Parameter places: what is left out.
    init(_ value: JSONValue, without places: [ArraySlice<String>] = []) {
        switch value.kind {
        case .null: self = .null
        case .bool(let isTrue): self = .bool(isTrue)
        case .number(let text): self = .number(JSONNumber(text))
        case .string(let text): self = .string(Array(text.utf8))
        case .array(let elements): self = .array(elements.map { Self($0) })
        case .object(let members):
            var kept: [String: CanonicalJSON] = [:]
            for (name, value) in members {
                let within = places.filter { $0.first == name }.map { $0.dropFirst() }
                if !within.contains(where: \.isEmpty) { kept[name] = Self(value, without: within) }
            }
            self = .object(kept)
        }
    }
}

/// A JSON number by its exact value: `1`, `1.0` and `10e-1` are the same, and no digit is lost to a double.
package struct JSONNumber: Sendable, Hashable {
    private let isNegative: Bool
    /// The digits without zeros at either end. Without digits the number is zero. The value is `0.digits` times ten to
    /// the power of `exponent`.
    private let digits: [UInt8]
    private let exponent: Int

    /// - Parameter text: a number as JSON writes it.
    package init(_ text: String) {
        let parts = text.utf8.split { $0 | 0x20 == UInt8(ascii: "e") }
        let mantissa = (parts.first.map(Array.init) ?? []).filter { $0 != UInt8(ascii: "-") }
        var digits = mantissa.filter { $0 != UInt8(ascii: ".") }
        let places = mantissa.firstIndex(of: UInt8(ascii: ".")) ?? digits.count
        let leading = digits.prefix { $0 == UInt8(ascii: "0") }.count
        digits.removeFirst(leading)
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        // An exponent that does not fit an Int is replaced by `far`, the largest exponent that is distinguished.
        let written = parts.dropFirst().first.map { String(Substring($0)) } ?? "0"
        let power = Int(written) ?? (written.hasPrefix("-") ? -Self.far : Self.far)
        self.digits = digits
        exponent = digits.isEmpty ? 0 : places - leading + max(-Self.far, min(Self.far, power))
        isNegative = !digits.isEmpty && text.hasPrefix("-")
    }

    private static let far = 1 << 40
}

extension JSONNumber: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? isNearerZero(right, left) : isNearerZero(left, right)
    }

    /// Compares the magnitudes.
    private static func isNearerZero(_ left: Self, _ right: Self) -> Bool {
        if left.digits.isEmpty || right.digits.isEmpty { return left.digits.isEmpty && !right.digits.isEmpty }
        if left.exponent != right.exponent { return left.exponent < right.exponent }
        return left.digits.lexicographicallyPrecedes(right.digits)
    }
}
