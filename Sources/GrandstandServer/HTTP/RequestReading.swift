internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import JSON

// Strict reading of paths, queries and bodies.

/// Reads the names in the path of a request to the API or the console. It refuses names that are invalid or out of the
/// caller's reach.
protocol PathReading: Reaching {
    /// The parameters of the path, still percent-encoded.
    var parameters: Parameters { get }
}

extension PathReading {
    /// A percent-decoded parameter. Text that cannot be decoded is returned unchanged.
    func text(_ name: String) -> String {
        let raw = parameters.get(name) ?? ""
        return PercentEncoding.decode(raw) ?? raw
    }

    /// - Parameter kind: the problem for text that cannot be a bundle ID. It is `invalid-request` if the request writes,
    ///   because then it is the caller's mistake, and not a missing app.
    /// - Throws: `kind`; `forbidden` for an app out of reach.
    func bundleID(orThrow kind: Problem.Kind = .appNotFound) throws(Problem) -> BundleID {
        let bundleID: BundleID = try name("bundleId", "a bundle ID", BundleID.rule, orThrow: kind)
        try requireAccess(to: bundleID)
        return bundleID
    }

    private func name<Name: RawRepresentable<String>>(
        _ parameter: String, _ noun: String, _ rule: String, orThrow kind: Problem.Kind
    ) throws(Problem) -> Name {
        let text = text(parameter)
        if let name = Name(rawValue: text) { return name }
        let fault = FieldError(pointer: parameter, detail: rule)
        throw Problem(
            kind, "\(text.quotedJSON) cannot be \(noun). \(rule)", errors: kind == .invalidRequest ? [fault] : [])
    }

    /// - Throws: `not-found` for anything but Apple's two environments.
    func environment() throws(Problem) -> APNsEnvironment {
        let text = text("environment")
        guard let environment = APNsEnvironment(rawValue: text) else {
            throw Problem(
                .notFound, "\(text.quotedJSON) is not an environment; use development or production.",
                errors: [FieldError(pointer: "environment", detail: "development or production was expected.")])
        }
        return environment
    }

    /// The app and environment in the path.
    func app() throws(Problem) -> AppEnvironment {
        AppEnvironment(bundleID: try bundleID(), environment: try environment())
    }

    /// - Parameter kind: the problem for text that cannot be an event key: `invalid-request` if the request writes.
    func eventKey(orThrow kind: Problem.Kind = .eventNotFound) throws(Problem) -> EventKey {
        try name("key", "an event key", EventKey.rule, orThrow: kind)
    }

    /// Reads a UUID. Invalid text gives the same error as an unknown ID.
    func id(_ name: String = "id", orThrow kind: Problem.Kind) throws(Problem) -> UUID {
        let text = text(name)
        guard let id = UUID(uuidString: text) else {
            throw Problem(kind, "\(text.quotedJSON) is not a valid ID; IDs are UUIDs.")
        }
        return id
    }
}

extension Request {
    /// The body's JSON value.
    ///
    /// - Throws: `unsupported-media-type`, `body-too-large`, `malformed-json`.
    ///
    /// - Parameters:
    ///   - fallback: the JSON that is used if there is no body, for bodies whose fields are all optional.
    ///   - mediaTypes: the accepted values of `Content-Type`; the error names the first.
    func json(
        upTo limit: Int = Route.standardBodyLimit, orIfEmpty fallback: String? = nil,
        as mediaTypes: [String] = ["application/json"]
    ) async throws -> JSONValue {
        if let fallback, headers[.contentLength].map({ $0 == "0" }) ?? (headers[.transferEncoding] == nil) {
            return try JSONValue(parsing: Array(fallback.utf8))
        }
        let mediaType = headers[.contentType]?.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        guard let mediaType, mediaTypes.contains(mediaType) else {
            throw Problem(
                .unsupportedMediaType, "Send the body as Content-Type: \(mediaTypes.joined(separator: " or ")).")
        }
        return try JSONValue(parsing: try await bytes(upTo: limit), refusesHugeNumbers: true)
    }
}

/// The query of a URI, read strictly.
struct QueryParameters: Sendable {
    fileprivate(set) var values: [String: String] = [:]
}

extension QueryParameters {
    /// The query of a page, which may have any parameters.
    init(_ fields: FormFields) { for entry in fields.entries { values[entry.name] = fields[entry.name] } }

    /// - Throws: `unknown-field` for an unknown name; `invalid-request` for a name that occurs twice, or a value that
    ///   is not percent-encoded text.
    init(_ query: String, known: [String]) throws(Problem) {
        var errors: [FieldError] = []
        var isUnknown = false
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = PercentEncoding.decode(parts[0]) ?? parts[0]
            let raw = parts.count > 1 ? parts[1] : ""
            let detail: String
            if !known.contains(name) {
                isUnknown = true
                detail =
                    known.isEmpty
                    ? "There are no query parameters here."
                    : "There is no such query parameter; there are \(known.joined(separator: ", "))."
            } else if let value = PercentEncoding.decode(raw), !value.contains("\0"),
                values.updateValue(value, forKey: name) == nil
            {
                continue
            } else {
                detail = "It must be percent-encoded UTF-8 without U+0000, and be given only once."
            }
            errors.append(FieldError(pointer: name, detail: detail))
        }
        guard errors.isEmpty else {
            throw Problem(
                isUnknown ? .unknownField : .invalidRequest,
                "Remove or correct the query parameters named in errors.", errors: errors)
        }
    }

    subscript(name: String) -> String? { values[name] }

    func read<Value>(_ name: String, _ expectation: String, _ convert: (String) -> Value?) throws(Problem) -> Value? {
        guard let text = values[name] else { return nil }
        guard let value = convert(text) else {
            throw Problem.invalid("Correct the query parameter \(name).", at: name, expectation)
        }
        return value
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type = Choice.self
    ) throws(Problem) -> Choice? {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return try read(name, "One of \(words) was expected.") { text in
            Choice.allCases.first { $0.rawValue == text }
        }
    }

    func flag(_ name: String) throws(Problem) -> Bool {
        try read(name, "true or false was expected.") { $0 == "true" ? true : $0 == "false" ? false : nil } ?? false
    }

    func date(_ name: String) throws(Problem) -> Date? {
        try read(name, "An RFC 3339 time such as 2026-11-21T20:45:00Z was expected.", RFC3339.date)
    }

    /// The period between `from` and `to`, both optional.
    func period() throws(Problem) -> (from: Date?, to: Date?) {
        let (from, to) = (try date("from"), try date("to"))
        if let from, let to, to < from {
            throw Problem.invalid(
                "The parameter to is earlier than the parameter from. Exchange their values.", at: "to",
                "A time after from was expected.")
        }
        return (from, to)
    }

    func page() throws(Problem) -> PageRequest {
        let limit = try read("limit", "A whole number from 1 to 200 was expected.") { text in
            Int(text).flatMap { (1...200).contains($0) ? $0 : nil }
        }
        return PageRequest(limit: limit ?? 50, cursor: values["cursor"])
    }
}

/// The media types that a client accepts: the header `Accept` (RFC 9110, 12.5.1).
enum MediaRanges {
    /// The weight of a type from 0 (not accepted) to 1, taken from the most specific range. Ranges that cannot be
    /// parsed are ignored.
    static func weight(of type: String, in accept: String) -> Double {
        let ranges = accept.lowercased().split(separator: ",").map { range in
            range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
        }
        for name in [type, type.prefix { $0 != "/" } + "/*", "*/*"] {
            let weights = ranges.filter { $0.first == name }.compactMap { range -> Double? in
                guard let text = range.dropFirst().last(where: { $0.hasPrefix("q=") }) else { return 1 }
                return Double(text.dropFirst(2)).flatMap { (0...1).contains($0) ? $0 : nil }
            }
            if let weight = weights.max() { return weight }
        }
        return 0
    }
}
