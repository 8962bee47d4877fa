/// Reads an object that a person wrote. Every mistake is reported with its place, including unknown members.
struct JSONFields {
    /// The path of the object, such as `faults[2].match`.
    let place: String
    private let members: [String: JSONValue]

    /// - Parameter known: the allowed names.
    /// - Throws: for a value that is not an object, and for a member that is unknown or occurs twice.
    init(_ value: JSONValue, at place: String, known: [String]) throws(SimulatorError) {
        guard case .object(let list) = value else { throw SimulatorError("\(place): an object is expected.") }
        self.place = place
        var members: [String: JSONValue] = [:]
        for member in list {
            guard known.contains(member.name) else {
                throw SimulatorError(
                    "\(place): \"\(member.name)\" is unknown; known are \(known.joined(separator: ", ")).")
            }
            guard members.updateValue(member.value, forKey: member.name) == nil else {
                throw SimulatorError("\(place): \"\(member.name)\" is given twice.")
            }
        }
        self.members = members
    }

    subscript(name: String) -> JSONValue? { members[name] }

    func place(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

    func string(_ name: String) throws(SimulatorError) -> String? {
        switch members[name] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw SimulatorError("\(place(name)): a string is expected.")
        }
    }

    func requiredString(_ name: String) throws(SimulatorError) -> String {
        guard let text = try string(name), !text.isEmpty else {
            throw SimulatorError("\(place(name)): missing; write a string.")
        }
        return text
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(SimulatorError) -> Int? {
        switch members[name] {
        case nil, .null?: return nil
        case .number(let text)?:
            if let value = Int(text), range.contains(value) { return value }
        default: break
        }
        let bounds = "from \(range.lowerBound)" + (range.upperBound == .max ? " up" : " to \(range.upperBound)")
        throw SimulatorError("\(place(name)): a whole number \(bounds) is expected.")
    }

    func number(_ name: String, in range: ClosedRange<Double>) throws(SimulatorError) -> Double? {
        switch members[name] {
        case nil, .null?: return nil
        case .number(let text)?:
            if let value = Double(text), range.contains(value) { return value }
        default: break
        }
        throw SimulatorError("\(place(name)): a number from \(range.lowerBound) to \(range.upperBound) is expected.")
    }

    func bool(_ name: String) throws(SimulatorError) -> Bool? {
        switch members[name] {
        case nil, .null?: return nil
        case .bool(let value)?: return value
        default: throw SimulatorError("\(place(name)): true or false is expected.")
        }
    }

    func array(_ name: String) throws(SimulatorError) -> [JSONValue]? {
        switch members[name] {
        case nil, .null?: return nil
        case .array(let values)?: return values
        default: throw SimulatorError("\(place(name)): an array is expected.")
        }
    }

    func strings(_ name: String) throws(SimulatorError) -> [String]? {
        guard let values = try array(name) else { return nil }
        var strings: [String] = []
        for value in values {
            guard case .string(let text) = value else {
                throw SimulatorError("\(place(name)): an array of strings is expected.")
            }
            strings.append(text)
        }
        return strings
    }

    /// A value of an enumeration.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, of type: Choice.Type = Choice.self
    ) throws(SimulatorError) -> Choice? where Choice.RawValue == String {
        guard let text = try string(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw SimulatorError("\(place(name)): \"\(text)\" is not one of \(all).")
        }
        return choice
    }
}
