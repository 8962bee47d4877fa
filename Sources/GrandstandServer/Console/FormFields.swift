internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// The fields of a form in a query or a body (`application/x-www-form-urlencoded`). An empty field counts as absent. If
/// a name occurs twice, the last value counts.
struct FormFields: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        let name: String
        /// The value as it was typed.
        let value: String
    }

    /// All fields in their order.
    let entries: [Entry]

    init(_ entries: [Entry]) {
        self.entries = entries
    }

    init(_ text: String) {
        self.init(
            text.split(separator: "&").compactMap { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let name = Self.decode(parts[0]), let value = Self.decode(parts[1]) else {
                    return nil
                }
                return Entry(name: name, value: value)
            })
    }

    /// The value; `nil` if the field is absent or empty.
    subscript(name: String) -> String? {
        guard let value = entries.last(where: { $0.name == name })?.value.trimmed, !value.isEmpty else { return nil }
        return value
    }

    /// All values of a name, for check boxes and multiple selection.
    func all(_ name: String) -> [String] {
        entries.filter { $0.name == name }.map(\.value.trimmed).filter { !$0.isEmpty }
    }

    /// - Throws: `invalid-request` if `convert` returns `nil`.
    func read<Value>(_ name: String, _ expectation: String, _ convert: (String) -> Value?) throws(Problem) -> Value? {
        guard let text = self[name] else { return nil }
        guard let value = convert(text) else {
            throw Problem(.invalidRequest, "\(name) is \(JSONText.quoted(text)). \(expectation)")
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

    /// The fields, if none of them contains NUL, which PostgreSQL's text does not allow.
    ///
    /// - Throws: `invalid-request`.
    func storable() throws(Problem) -> FormFields {
        guard let bad = entries.first(where: { ($0.name + $0.value).unicodeScalars.contains("\0") }) else {
            return self
        }
        throw Problem(
            .invalidRequest, "\(JSONText.quoted(bad.name)) has the character U+0000. Take it out, and send it again.")
    }

    private static func decode(_ text: Substring) -> String? {
        PercentEncoding.decode(String(text.replacing("+", with: " ")))
    }
}

extension String {
    /// The text without white space at both ends, which pasted text often has.
    var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(String(start.reversed()).drop { $0.isWhitespace }.reversed())
    }
}

/// Reads the body of a form.
enum FormBody {
    /// The maximum number of fields in a form. No page has nearly as many fields. The limit also bounds the answer to a
    /// refused form, which shows all fields again.
    static let maximumFields = 500

    /// - Throws: `unsupported-media-type`, `body-too-large`, `invalid-request`.
    static func fields(of request: Request, upTo limit: Int) async throws -> FormFields {
        let type = request.headers[.contentType] ?? ""
        guard type.lowercased().hasPrefix("application/x-www-form-urlencoded") else {
            throw Problem(.unsupportedMediaType, "Only forms of the console's pages are accepted here.")
        }
        var bytes: [UInt8] = []
        for try await buffer in request.body {
            guard bytes.count + buffer.readableBytes <= limit else {
                throw Problem(.bodyTooLarge, "The form may have \(limit) bytes at most. Nothing was sent.")
            }
            bytes += buffer.readableBytesView
        }
        guard bytes.count(where: { $0 == UInt8(ascii: "&") }) < maximumFields else { throw tooMany }
        return try FormFields(String(decoding: bytes, as: UTF8.self)).storable()
    }

    private static let tooMany = Problem(
        .invalidRequest, "The form may have \(maximumFields) fields at most. Nothing was sent.")
}

/// Checks that a form is sent from a page of this server, because other sites must not sign anybody in or out.
enum FormOrigin {
    /// - Parameters:
    ///   - site: `Sec-Fetch-Site`, which browsers send over HTTPS and to localhost.
    ///   - origin: `Origin`, which browsers send with every POST.
    ///   - authority: the host and port of the request.
    ///   - isHTTPS: whether the page is known to be from HTTPS. If it is, an origin with `http` is another site.
    static func isOurs(site: String?, origin: String?, authority: String?, isHTTPS: Bool = false) -> Bool {
        if let site { return site == "same-origin" || site == "none" }
        // A client without `Origin` is not a browser, so there is no user whose cookie could be misused.
        guard let origin else { return true }
        let schemes = isHTTPS ? ["https://"] : ["https://", "http://"]
        guard let authority, let scheme = schemes.first(where: origin.hasPrefix) else { return false }
        return origin.dropFirst(scheme.count).lowercased() == authority.lowercased()
    }

    static func isOurs(_ request: Request) -> Bool {
        isOurs(
            site: request.headers[.secFetchSite], origin: request.headers[.origin],
            authority: request.head.authority, isHTTPS: request.cameByHTTPS)
    }
}

// The force-unwraps are safe: the literals are valid field names (RFC 9110).
extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
    static let xForwardedProto = HTTPField.Name("X-Forwarded-Proto")!
    /// The page's script sends this header when it fetches the page again.
    static let grandstandLive = HTTPField.Name("Grandstand-Live")!
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}

extension Problem {
    /// A problem that the console itself finds.
    init(_ kind: Kind, titled title: String, _ detail: String, retryAfter: Int? = nil) {
        self.init(kind, detail, retryAfter: retryAfter)
        self.title = title
    }

    /// The problem as the console shows it.
    ///
    /// - Returns: `nil` for an error that is not about the request.
    init?(shown error: any Error) {
        switch error {
        case let broken as BrokenBody: self = broken.problem
        case let problem as Problem where problem.kind != .internalError: self = problem
        default: return nil
        }
        if kind == .notFound { title = "No such page" }
        guard status == 412 else { return }
        // The API's detail has the names of headers, which say nothing to people.
        if detail == WriteCondition.taken.detail {
            title = "There is one already"
            detail =
                "This name is already used. Choose another name, or open the page of the one that exists and change it "
                + "there."
        } else {
            title = "It was changed meanwhile"
            detail =
                "It was changed or deleted since its page was made, so nothing was sent. Its page, opened again, shows "
                + "what is there now."
        }
    }
}

/// Why a form was refused: the problem, and the fields to correct. The page shows this refusal with the form.
struct FormRefusal: Sendable {
    let said: String
    let faults: [FieldError]

    /// - Parameter nothing: a sentence that says what did not happen.
    init(_ problem: Problem, nothing: String = "Nothing was changed.") {
        faults = problem.errors
        // What a fault says is not said twice.
        let isSaid = faults.contains { $0.detail == problem.detail }
        said =
            problem.detail.hasPrefix(Self.toCorrect)
            ? problem.detail : isSaid ? nothing : "\(problem.detail) \(nothing)"
    }

    private static let toCorrect = "What is to be corrected:"

    /// The problem of a form with fields that cannot be written into the API's body.
    static func problem(_ faults: [FieldError]) -> Problem { Problem(.invalidRequest, toCorrect, errors: faults) }
}
