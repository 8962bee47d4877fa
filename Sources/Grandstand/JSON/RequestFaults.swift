package import GrandstandContract
package import JSON

/// The faults of a request's body, each with its place, so that a caller sees all of them at once (the first
/// `FaultList.limit`).
package struct RequestFaults {
    /// The path to the value that is being checked. It becomes a pointer only for a fault.
    private var path: [String] = []
    fileprivate private(set) var invalid = FaultList()
    private var unknown = FaultList()

    /// Records a fault.
    ///
    /// - Parameter pointer: the place within the part that is being read, a JSON pointer.
    package mutating func add(_ pointer: String, _ detail: String) {
        invalid.append(FieldError(pointer: place + pointer, detail: detail))
    }

    fileprivate mutating func add(_ detail: String) { add("", detail) }

    fileprivate mutating func addUnknown(_ name: String) {
        unknown.append(
            FieldError(
                pointer: place + PointerText.pointer([name]), detail: "There is no field \(name.quotedJSON) here."))
    }

    /// - Parameter name: the name of a member, or the index of an element.
    fileprivate mutating func within(_ name: String, _ body: (inout Self) -> Void) {
        path.append(name)
        body(&self)
        path.removeLast()
    }

    private var place: String { PointerText.pointer(path) }

    /// Throws `unknown-field` or `invalid-request` with every fault found, or returns when there was none.
    fileprivate func finish() throws(Problem) {
        if !unknown.isEmpty {
            var all = unknown
            all.append(contentsOf: invalid)
            throw Problem(.unknownField, "Remove or correct the fields named in errors.", faults: all)
        }
        if !invalid.isEmpty {
            throw Problem(.invalidRequest, "Correct the fields named in errors.", faults: invalid)
        }
    }
}

extension ContractRequest {
    /// Reads a body. First the fields are checked against openapi.yaml. If they are valid, `convert` checks the rules
    /// that concern several fields.
    ///
    /// - Parameters:
    ///   - shape: the shape of an object that has further members.
    ///   - convert: makes the result, and records faults.
    /// - Throws: `invalid-request`, `unknown-field`, with every fault that was found.
    package static func read<Value>(
        _ body: JSONValue, as shape: RequestShape = Self.shape,
        _ convert: (Self, inout RequestFaults) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        try shape.read(body) { faults throws(Problem) in
            try convert(try body.decodeValid(), &faults)
        }
    }

    /// Reads a body for which no rule concerns several fields.
    ///
    /// - Throws: `invalid-request`, `unknown-field`, with every fault that was found.
    package static func read(_ body: JSONValue) throws(Problem) -> Self {
        try read(body) { request, _ throws(Problem) in request }
    }
}

extension JSONValue {
    /// Reads a part of a body whose shape was checked. It fails only by a mistake of the server.
    ///
    /// - Throws: `internal-error`.
    func decodeValid<Value: Decodable>() throws(Problem) -> Value {
        do { return try decode() } catch {
            throw Problem(.internalError, "A body that openapi.yaml allows cannot be read.")
        }
    }
}

extension RawRepresentable<String> {
    /// Converts a text that openapi.yaml allows. The conversion fails only by a mistake of the server, because the type
    /// and openapi.yaml have the same words and patterns.
    ///
    /// - Throws: `internal-error`.
    package init(allowed text: String) throws(Problem) {
        guard let value = Self(rawValue: text) else {
            throw Problem(.internalError, "openapi.yaml allows a text that this server does not know.")
        }
        self = value
    }

    /// Converts a word of an enumeration in openapi.yaml to this type.
    ///
    /// - Throws: `internal-error`.
    package init(_ word: some OpenEnumeration) throws(Problem) { try self.init(allowed: word.rawValue) }
}

extension RequestShape {
    /// Checks a body against this shape. If its fields are valid, `convert` makes the result, and records faults.
    ///
    /// - Throws: `invalid-request`, `unknown-field`, with every fault that was found.
    package func read<Value>(
        _ body: JSONValue, _ convert: (inout RequestFaults) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        var faults = RequestFaults()
        check(body, &faults)
        // Unknown fields do not stop the reading, so that they are reported together with the faults of `convert`.
        if !faults.invalid.isEmpty { try faults.finish() }
        let value = try convert(&faults)
        try faults.finish()
        return value
    }

    /// Records the faults of a value. A member that is null counts as left out.
    fileprivate func check(_ value: JSONValue, _ faults: inout RequestFaults) {
        switch self {
        case .any: break
        case .text(let rule):
            guard case .string(let text) = value.kind else { return addMismatch("A string", value, &faults) }
            if let fault = rule.fault(of: text) { faults.add(fault) }
        case .time:
            guard case .string(let text) = value.kind, text.hasPrefix("20"), RFC3339.date(text) != nil else {
                return faults.add("An RFC 3339 time such as 2026-11-21T20:45:00Z was expected.")
            }
        case .integer(let range):
            guard let number = value.integer, range.contains(number) else {
                return faults.add("A whole number from \(range.lowerBound) to \(range.upperBound) was expected.")
            }
        case .numbers(let numbers):
            guard let number = value.integer, numbers.contains(number) else {
                return faults.add("One of \(numbers.map(String.init).joined(separator: ", ")) was expected.")
            }
        case .number:
            guard case .number(let text) = value.kind else { return addMismatch("A number", value, &faults) }
            guard Double(text)?.isFinite == true else {
                return faults.add("A number of at most 1.8e308 was expected; this one is beyond what a double holds.")
            }
        case .flag:
            guard case .bool = value.kind else { return addMismatch("true or false", value, &faults) }
        case .words(let words):
            guard case .string(let text) = value.kind, words.contains(text) else {
                return faults.add("One of \(words.joined(separator: ", ")) was expected.")
            }
        case .array(let shape, let count, let isUnique):
            guard case .array(let elements) = value.kind else { return addMismatch("An array", value, &faults) }
            guard count.contains(elements.count) else {
                return faults.add(
                    "\(count.lowerBound) to \(count.upperBound) elements were expected; there are \(elements.count).")
            }
            var seen: Set<String> = []
            for (index, element) in elements.enumerated() {
                faults.within(String(index)) { faults in
                    shape.check(element, &faults)
                    if isUnique, let text = element.string, !seen.insert(text).inserted {
                        faults.add("\(text) stands twice.")
                    }
                }
            }
        case .raw:
            guard case .object = value.kind else { return addMismatch("An object", value, &faults) }
        case .map(let name, let shape):
            guard case .object(let members) = value.kind else { return addMismatch("An object", value, &faults) }
            for member in members {
                faults.within(member.name) { faults in
                    if let fault = name.fault(of: member.name) { faults.add(fault) }
                    shape.check(member.value, &faults)
                }
            }
        case .objectOr(let shape, let text):
            switch value.kind {
            case .object: shape.check(value, &faults)
            case .string: text.check(value, &faults)
            default: addMismatch("A string or an object", value, &faults)
            }
        case .object(let members, let exclusions):
            guard case .object(let written) = value.kind else { return addMismatch("An object", value, &faults) }
            check(written, members, exclusions, &faults)
        }
    }

    private func addMismatch(_ expected: String, _ value: JSONValue, _ faults: inout RequestFaults) {
        faults.add("\(expected) was expected, not \(value.kindName).")
    }

    private func check(
        _ written: [(name: String, value: JSONValue)], _ members: [Member], _ exclusions: [Exclusion],
        _ faults: inout RequestFaults
    ) {
        var values = Dictionary(written.map { ($0.name, $0.value) }) { first, _ in first }
        var given: Set<String> = []
        for member in members {
            guard let value = values.removeValue(forKey: member.name) else {
                if member.isRequired { faults.within(member.name) { $0.add("\(member.name) is required.") } }
                continue
            }
            faults.within(member.name) { faults in
                if case .null = value.kind {
                    if member.isRequired { faults.add("\(member.name) is required and cannot be null.") }
                } else {
                    given.insert(member.name)
                    member.shape.check(value, &faults)
                }
            }
        }
        for pair in exclusions where given.contains(pair.first) && given.contains(pair.second) {
            faults.within(pair.second) {
                $0.add("\(pair.first) and \(pair.second) exclude each other; send one of them.")
            }
        }
        for (name, _) in written where values[name] != nil { faults.addUnknown(name) }
    }
}
