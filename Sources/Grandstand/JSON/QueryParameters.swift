package import FoundationEssentials
internal import JSON

/// The query of a URI, read strictly.
package struct QueryParameters: Sendable {
    private var values: [String: String]

    package init(of values: [String: String] = [:]) { self.values = values }

    /// - Throws: `unknown-field` for an unknown name; `invalid-request` for a name that occurs twice, or a value that
    ///   is not percent-encoded text.
    package init(_ query: String, known: [String]) throws(Problem) {
        self.init()
        var errors: [FieldError] = []
        var isUnknown = false
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = PercentEncoding.decode(parts[0]) ?? parts[0]
            let raw = parts.count > 1 ? parts[1] : ""
            if !known.contains(name) {
                isUnknown = true
                let words = known.isEmpty ? "none" : known.joined(separator: ", ")
                errors.append(FieldError(pointer: name, detail: "It is not known; known: \(words)."))
            } else if values[name] == nil, let value = PercentEncoding.decode(raw), !value.contains("\0") {
                values[name] = value
            } else {
                let detail = "It must be percent-encoded UTF-8 without U+0000, and be given only once."
                errors.append(FieldError(pointer: name, detail: detail))
            }
        }
        guard errors.isEmpty else {
            throw Problem(
                isUnknown ? .unknownField : .invalidRequest,
                "Remove or correct the query parameters named in errors.", errors: errors)
        }
    }

    package subscript(name: String) -> String? { values[name] }

    package func read<Value>(_ name: String, _ expectation: String, _ convert: (String) -> Value?) throws(Problem)
        -> Value?
    {
        guard let text = values[name] else { return nil }
        guard let value = convert(text) else {
            throw Problem.invalid("Correct the query parameter \(name).", at: name, expectation)
        }
        return value
    }

    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type = Choice.self
    ) throws(Problem) -> Choice? {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return try read(name, "One of \(words) was expected.") { text in
            Choice.allCases.first { $0.rawValue == text }
        }
    }

    package func flag(_ name: String) throws(Problem) -> Bool {
        try read(name, "true or false was expected.") { Bool($0) } ?? false
    }

    package func date(_ name: String) throws(Problem) -> Date? {
        try read(name, "An RFC 3339 time such as 2026-11-21T20:45:00Z was expected.", RFC3339.date)
    }

    /// The period between `from` and `to`, both optional.
    package func period() throws(Problem) -> (from: Date?, to: Date?) {
        (try date("from"), try date("to"))
    }

    package func page() throws(Problem) -> PageRequest {
        let limit = try read("limit", "A whole number from 1 to 200 was expected.") { text in
            Int(text).flatMap { (1...200).contains($0) ? $0 : nil }
        }
        return PageRequest(limit: limit ?? 50, cursor: values["cursor"])
    }
}
