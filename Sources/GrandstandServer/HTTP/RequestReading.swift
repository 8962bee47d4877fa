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
        let bundleID: BundleID = try readName("bundleId", BundleID.rule, orThrow: kind)
        try requireAccess(to: bundleID)
        return bundleID
    }

    private func readName<Name: RawRepresentable<String>>(
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
        try readName("key", EventKey.rule, orThrow: kind)
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

extension QueryParameters {
    /// The query of a page, which may have any parameters.
    init(_ fields: FormFields) { self.init(of: fields.entries.reduce(into: [:]) { $0[$1.name] = fields[$1.name] }) }
}
