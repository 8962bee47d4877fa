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
        let bundleID: BundleID = try name("bundleId", BundleID.rule, orThrow: kind)
        try requireAccess(to: bundleID)
        return bundleID
    }

    private func name<Name: RawRepresentable<String>>(
        _ parameter: String, _ rule: String, orThrow kind: Problem.Kind
    ) throws(Problem) -> Name {
        if let name = Name(rawValue: text(parameter)) { return name }
        let faults = kind == .invalidRequest ? [FieldError(pointer: parameter, detail: rule)] : []
        throw Problem(kind, "\(text(parameter).quotedJSON) names nothing. \(rule)", errors: faults)
    }

    /// - Throws: `not-found` for anything but Apple's two environments.
    func environment() throws(Problem) -> APNsEnvironment {
        guard let environment = APNsEnvironment(rawValue: text("environment")) else {
            throw Problem(.notFound, "The environments are development and production.")
        }
        return environment
    }

    /// The app and environment in the path.
    func app() throws(Problem) -> AppEnvironment {
        AppEnvironment(bundleID: try bundleID(), environment: try environment())
    }

    /// - Parameter kind: the problem for text that cannot be an event key: `invalid-request` if the request writes.
    func eventKey(orThrow kind: Problem.Kind = .eventNotFound) throws(Problem) -> EventKey {
        try name("key", EventKey.rule, orThrow: kind)
    }

    /// Reads a UUID. Invalid text gives the same error as an unknown ID.
    func id(_ name: String = "id", orThrow kind: Problem.Kind) throws(Problem) -> UUID {
        guard let id = UUID(uuidString: text(name)) else { throw Problem(kind, "An ID is a UUID.") }
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
        let mediaType = headers[.contentType]?.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() ?? ""
        guard mediaTypes.contains(mediaType) else {
            throw Problem(
                .unsupportedMediaType, "Send the body as Content-Type: \(mediaTypes[0]).")
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
        try read(name, "true or false was expected.") { Bool($0) } ?? false
    }

    func date(_ name: String) throws(Problem) -> Date? {
        try read(name, "An RFC 3339 time such as 2026-11-21T20:45:00Z was expected.", RFC3339.date)
    }

    /// The period between `from` and `to`, both optional.
    func period() throws(Problem) -> (from: Date?, to: Date?) {
        (try date("from"), try date("to"))
    }

    func page() throws(Problem) -> PageRequest {
        let limit = try read("limit", "A whole number from 1 to 200 was expected.") { text in
            Int(text).flatMap { (1...200).contains($0) ? $0 : nil }
        }
        return PageRequest(limit: limit ?? 50, cursor: values["cursor"])
    }
}
