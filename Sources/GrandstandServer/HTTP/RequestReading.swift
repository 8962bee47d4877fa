internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

// Strict reading of paths, queries and bodies.

extension APIContext {
    /// The bundle ID in the path of a request that writes. Invalid text is the caller's mistake, not a missing app.
    ///
    /// - Throws: `invalid-request`, `forbidden`.
    func bundleIDToWrite() throws(Problem) -> BundleID {
        let bundleID = try BundleID(toWrite: text("bundleId"))
        try requireAccess(to: bundleID)
        return bundleID
    }

    /// The event key in the path of a request that writes.
    ///
    /// - Throws: `invalid-request`.
    func eventKeyToWrite() throws(Problem) -> EventKey {
        guard let key = EventKey(rawValue: text("key")) else {
            throw Problem.invalid("The event key in the path is not valid. \(EventKey.rule)", at: "key", EventKey.rule)
        }
        return key
    }
}

extension BundleID {
    /// - Throws: `invalid-request`.
    init(toWrite text: String) throws(Problem) {
        guard let bundleID = BundleID(rawValue: text) else {
            throw Problem.invalid(
                "\(JSONText.quoted(text)) cannot be a bundle ID. \(BundleID.rule)", at: "bundleId", BundleID.rule)
        }
        self = bundleID
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
        let mediaType = headers[.contentType]?.split(separator: ";").first?.lowercased()
            .trimmingPrefix { $0 == " " }
        guard let mediaType, mediaTypes.contains(String(mediaType).filter { $0 != " " }) else {
            throw Problem(
                .unsupportedMediaType, "Send the body as Content-Type: \(mediaTypes.joined(separator: " or ")).")
        }
        return try JSONValue(parsing: try await bytes(upTo: limit), refusesHugeNumbers: true)
    }

    /// The body's bytes.
    ///
    /// - Throws: `unsupported-media-type` for a body with a `Content-Encoding`; `body-too-large`, before the whole body
    ///   is read.
    func bytes(upTo limit: Int) async throws -> [UInt8] {
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" {
            throw Problem(
                .unsupportedMediaType,
                "Send the body as it is, without the header Content-Encoding (\(JSONText.quoted(encoding))).")
        }
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw Self.tooLarge(limit) }
        var bytes: [UInt8] = []
        for try await buffer in body {
            guard bytes.count + buffer.readableBytes <= limit else { throw Self.tooLarge(limit) }
            bytes += buffer.readableBytesView
        }
        return bytes
    }

    private static func tooLarge(_ limit: Int) -> Problem {
        Problem(.bodyTooLarge, "The body may have \(limit) bytes at most.", members: [.limit(limit)])
    }
}

/// The query of a URI, read strictly.
struct QueryParameters: Sendable {
    private var values: [String: String] = [:]

    init() {}

    /// - Throws: `unknown-field` for an unknown name; `invalid-request` for a name that occurs twice, or a value that
    ///   is not percent-encoded text.
    init(_ query: String, known: [String]) throws(Problem) {
        var errors: [FieldError] = []
        var isUnknown = false
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = PercentEncoding.decode(parts[0]) ?? parts[0]
            let raw = parts.count > 1 ? parts[1] : ""
            guard known.contains(name) else {
                isUnknown = true
                errors.append(
                    FieldError(
                        pointer: name,
                        detail: known.isEmpty
                            ? "There are no query parameters here."
                            : "There is no such query parameter; there are \(known.joined(separator: ", "))."))
                continue
            }
            guard let value = PercentEncoding.decode(raw), !value.contains("\0"),
                values.updateValue(value, forKey: name) == nil
            else {
                errors.append(
                    FieldError(
                        pointer: name,
                        detail: "It must be percent-encoded UTF-8 without U+0000, and be given only once."))
                continue
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

/// The media types that a client accepts, with their weights: the header `Accept` (RFC 9110, 12.5.1).
struct MediaRanges {
    /// The weight of each range. Ranges are in lower case and without parameters.
    private var weights: [String: Double] = [:]

    /// Ignores ranges that cannot be parsed.
    init(_ accept: String) {
        for range in accept.lowercased().split(separator: ",") {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let name = parts.first, let weight = Self.weight(parts.dropFirst()) else { continue }
            weights[name] = max(weights[name] ?? 0, weight)
        }
    }

    private static func weight(_ parameters: ArraySlice<String>) -> Double? {
        guard let text = parameters.last(where: { $0.hasPrefix("q=") })?.dropFirst(2) else { return 1 }
        return Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
    }

    /// The weight from 0 (not accepted) to 1, taken from the most specific range.
    func weight(of type: String) -> Double {
        let group = type.prefix { $0 != "/" } + "/*"
        return weights[type] ?? weights[String(group)] ?? weights["*/*"] ?? 0
    }
}
