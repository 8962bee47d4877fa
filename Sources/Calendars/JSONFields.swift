internal import Grandstand
internal import GrandstandContract
internal import JSON

/// Reads the fields of a plan file and collects their faults. An unknown field is a fault. `null` is the same as a
/// missing field.
struct JSONFields {
    private var remaining: [String: JSONValue] = [:]
    private var order: [String] = []
    private var invalid = FaultList()

    /// Opens the object. Another kind of value is a fault.
    init(_ value: JSONValue) {
        guard case .object(let members) = value.kind else {
            fault(at: "", "An object was expected, not \(value.kindName).")
            return
        }
        for member in members {
            order.append(member.name)
            remaining[member.name] = member.value
        }
    }

    func pointer(to name: String) -> String { JSONText.pointer([name]) }

    mutating func fault(_ name: String, _ detail: String) { fault(at: pointer(to: name), detail) }

    mutating func fault(at pointer: String, _ detail: String) {
        invalid.append(FieldError(pointer: pointer, detail: detail))
    }

    /// The value of a field, of any kind; `nil`: it is missing or `null`.
    mutating func value(_ name: String, required: Bool = false) -> JSONValue? {
        let value = remaining.removeValue(forKey: name)
        if let value, case .null = value.kind {
            if required { fault(name, "\(name) is required and cannot be null.") }
            return nil
        }
        if value == nil, required { fault(name, "\(name) is required.") }
        return value
    }

    /// A string of 1 to `maximum` Unicode code points without control characters.
    mutating func text(_ name: String, required: Bool = false, maximum: Int = 200) -> String? {
        guard let value = value(name, required: required) else { return nil }
        guard let text = value.string else {
            fault(name, "A string was expected, not \(value.kindName).")
            return nil
        }
        if let detail = TextRule(1...maximum, isPrintable: true).fault(of: text) {
            fault(name, detail)
            return nil
        }
        return text
    }

    /// A whole number within `range`.
    mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = value.integer, range.contains(number) else {
            fault(name, "A whole number from \(range.lowerBound) to \(range.upperBound) was expected.")
            return nil
        }
        return number
    }

    /// One of the raw values of `Choice`.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type = Choice.self, required: Bool = false
    ) -> Choice? {
        guard let value = value(name, required: required) else { return nil }
        guard let choice = value.string.flatMap(Choice.init) else {
            fault(name, "One of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")) was expected.")
            return nil
        }
        return choice
    }

    /// An array's elements with their pointers.
    mutating func array(_ name: String, count: ClosedRange<Int>) -> [(value: JSONValue, pointer: String)]? {
        guard let value = value(name) else { return nil }
        guard let elements = value.elements else {
            fault(name, "An array was expected, not \(value.kindName).")
            return nil
        }
        guard count.contains(elements.count) else {
            fault(
                name, "\(count.lowerBound) to \(count.upperBound) elements were expected; there are \(elements.count).")
            return nil
        }
        return elements.enumerated().map { ($0.element, "\(pointer(to: name))/\($0.offset)") }
    }

    /// Throws `unknown-field` or `invalid-request` with all faults, if there are any.
    consuming func finish() throws(Problem) {
        let names = order.filter { remaining[$0] != nil }
        var faults = FaultList(
            names.map {
                FieldError(pointer: pointer(to: $0), detail: "There is no field \(JSONText.quoted($0)) here.")
            })
        faults.append(contentsOf: invalid)
        guard !faults.isEmpty else { return }
        throw names.isEmpty
            ? Problem(.invalidRequest, "Correct the fields named in errors.", faults: faults)
            : Problem(.unknownField, "Remove or correct the fields named in errors.", faults: faults)
    }
}
