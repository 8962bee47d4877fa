package import FoundationEssentials
package import JSON

/// Reads the fields of one JSON object and collects its faults, so that a caller learns of all of them at once (of the
/// first `FaultList.limit`).
///
/// Unknown fields are faults, too (`unknown-field`): a typo never passes in silence. `null` counts as absent.
package struct JSONFields {
    private var remaining: [String: JSONValue] = [:]
    private var order: [String] = []
    private let pointer: String
    private var invalid = FaultList()
    private var unknown = FaultList()

    /// Opens the object; a value of another kind is a fault.
    package init(_ value: JSONValue, pointer: String = "") {
        self.pointer = pointer
        guard case .object(let members) = value.kind else {
            invalid.append(
                FieldError(pointer: pointer, detail: "An object was expected, not \(value.kindName)."))
            return
        }
        for member in members {
            order.append(member.name)
            remaining[member.name] = member.value
        }
    }

    package func pointer(to name: String) -> String { pointer + JSONText.pointer([name]) }

    /// Records a fault of `name`.
    package mutating func fault(_ name: String, _ detail: String) {
        invalid.append(FieldError(pointer: pointer(to: name), detail: detail))
    }

    /// Records a fault of an array's element.
    package mutating func fault(at pointer: String, _ detail: String) {
        invalid.append(FieldError(pointer: pointer, detail: detail))
    }

    /// Records the faults of a nested object's reader; its unknown fields stay unknown fields.
    package mutating func absorb(_ nested: JSONFields) {
        var nested = nested
        nested.countUnknown()
        invalid.append(contentsOf: nested.invalid)
        unknown.append(contentsOf: nested.unknown)
    }

    /// The value of a field, whatever its kind; `nil` when it is absent or `null`.
    package mutating func value(_ name: String, required: Bool = false) -> JSONValue? {
        guard let value = remaining.removeValue(forKey: name) else {
            if required { fault(name, "\(name) is required.") }
            return nil
        }
        if case .null = value.kind {
            if required { fault(name, "\(name) is required and cannot be null.") }
            return nil
        }
        return value
    }

    /// A string of 1 to `maximum` Unicode code points without control characters.
    package mutating func text(_ name: String, required: Bool = false, maximum: Int = 200) -> String? {
        guard let value = value(name, required: required) else { return nil }
        guard case .string(let text) = value.kind else {
            fault(name, "A string was expected, not \(value.kindName).")
            return nil
        }
        // Not characters: JSON Schema counts code points, and one character may be any number of combining marks.
        let length = text.unicodeScalars.count
        guard (1...maximum).contains(length) else {
            fault(name, "A string of 1 to \(maximum) characters was expected; this one has \(length).")
            return nil
        }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            fault(name, "Control characters are not allowed here.")
            return nil
        }
        return text
    }

    /// The value that `convert` makes of a string.
    ///
    /// - Parameter rule: said of a string that it makes nothing of.
    package mutating func read<Value>(
        _ name: String, _ rule: String, required: Bool = false, _ convert: (String) -> Value?
    ) -> Value? {
        guard let text = text(name, required: required) else { return nil }
        let value = convert(text)
        if value == nil { fault(name, rule) }
        return value
    }

    /// A whole number within `range`.
    package mutating func integer(_ name: String, in range: ClosedRange<Int>, required: Bool = false) -> Int? {
        guard let value = value(name, required: required) else { return nil }
        guard let number = Self.integer(value), range.contains(number) else {
            fault(name, "A whole number from \(range.lowerBound) to \(range.upperBound) was expected.")
            return nil
        }
        return number
    }

    /// The whole number that a value is, however it is written: `5.0` and `5e0` are 5, as in JSON Schema.
    static func integer(_ value: JSONValue) -> Int? {
        guard case .number(let text) = value.kind else { return nil }
        return Int(text) ?? Double(text).flatMap(Int.init(exactly:))
    }

    /// The text of a number.
    package mutating func number(_ name: String) -> [UInt8]? {
        guard let value = value(name) else { return nil }
        guard case .number(let text) = value.kind else {
            fault(name, "A number was expected, not \(value.kindName).")
            return nil
        }
        guard let number = Double(text), number.isFinite else {
            fault(name, "A number of at most 1.8e308 was expected; this one is beyond what a double holds.")
            return nil
        }
        return value.bytes
    }

    package mutating func flag(_ name: String) -> Bool? {
        guard let value = value(name) else { return nil }
        guard case .bool(let flag) = value.kind else {
            fault(name, "true or false was expected, not \(value.kindName).")
            return nil
        }
        return flag
    }

    /// An RFC 3339 time of the years 2000 to 2099.
    package mutating func date(_ name: String, required: Bool = false) -> Date? {
        guard let value = value(name, required: required) else { return nil }
        return date(value, of: name)
    }

    /// The same of a field's value that was read.
    package mutating func date(_ value: JSONValue, of name: String) -> Date? {
        guard case .string(let text) = value.kind, text.hasPrefix("20"), let date = RFC3339.date(text) else {
            fault(name, "An RFC 3339 time such as 2026-11-21T20:45:00Z was expected.")
            return nil
        }
        return date
    }

    /// One of the raw values of `Choice`.
    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type = Choice.self, required: Bool = false
    ) -> Choice? {
        guard let value = value(name, required: required) else { return nil }
        guard case .string(let text) = value.kind, let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            fault(name, "One of \(words) was expected.")
            return nil
        }
        return choice
    }

    /// An object's members, to be read by a nested `JSONFields`; `absorb` it afterwards.
    package mutating func fields(_ name: String, required: Bool = false) -> JSONFields? {
        guard let value = value(name, required: required) else { return nil }
        return JSONFields(value, pointer: pointer(to: name))
    }

    /// An object's source text.
    package mutating func object(_ name: String, required: Bool = false) -> [UInt8]? {
        guard let value = value(name, required: required) else { return nil }
        guard case .object = value.kind else {
            fault(name, "An object was expected, not \(value.kindName).")
            return nil
        }
        return value.bytes
    }

    /// An array's elements with their pointers.
    package mutating func array(
        _ name: String, required: Bool = false, count: ClosedRange<Int>
    ) -> [(value: JSONValue, pointer: String)]? {
        guard let value = value(name, required: required) else { return nil }
        guard case .array(let elements) = value.kind else {
            fault(name, "An array was expected, not \(value.kindName).")
            return nil
        }
        guard count.contains(elements.count) else {
            fault(
                name, "\(count.lowerBound) to \(count.upperBound) elements were expected; there are \(elements.count).")
            return nil
        }
        let base = pointer(to: name)
        return elements.enumerated().map { ($0.element, "\(base)/\($0.offset)") }
    }

    /// Throws `unknown-field` or `invalid-request` with every fault found, or returns when there was none.
    package consuming func finish() throws(Problem) {
        countUnknown()
        if !unknown.isEmpty {
            unknown.append(contentsOf: invalid)
            throw Problem(.unknownField, "Remove or correct the fields named in errors.", faults: unknown)
        }
        if !invalid.isEmpty {
            throw Problem(.invalidRequest, "Correct the fields named in errors.", faults: invalid)
        }
    }

    private mutating func countUnknown() {
        for name in order where remaining.removeValue(forKey: name) != nil {
            unknown.append(
                FieldError(pointer: pointer(to: name), detail: "There is no field \(JSONText.quoted(name)) here."))
        }
        order = []
    }
}
