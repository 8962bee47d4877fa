internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// The fields of a form in a query or a body (`application/x-www-form-urlencoded`). An empty field counts as absent. If
/// a name occurs twice, the last value counts.
struct FormFields: Sendable {
    /// All fields in their order, each with its value as it was typed.
    let entries: [(name: String, value: String)]

    /// The value; `nil` if the field is absent or empty.
    subscript(name: String) -> String? {
        guard let value = entries.last(where: { $0.name == name })?.value.trimmed, !value.isEmpty else { return nil }
        return value
    }

    /// All values of a name, for check boxes and multiple selection.
    func all(_ name: String) -> [String] {
        entries.filter { $0.name == name }.map(\.value.trimmed).filter { !$0.isEmpty }
    }
}

extension FormFields {
    init(_ text: String) {
        entries = text.split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                // PostgreSQL's text has no NUL.
                .map { PercentEncoding.decode(String($0.replacing("+", with: " ")))?.replacing("\0", with: "\u{FFFD}") }
            guard parts.count == 2, let name = parts[0], let value = parts[1] else { return nil }
            return (name, value)
        }
    }
}

extension String {
    /// The text without white space at both ends, which pasted text often has.
    var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(String(start.reversed()).drop { $0.isWhitespace }.reversed())
    }
}

extension FormFields {
    /// The maximum number of fields in a form. No page has nearly as many fields. The limit also bounds the answer to a
    /// refused form, which shows all fields again.
    private static let maxFields = 500

    /// Reads the body of a form.
    ///
    /// - Throws: `body-too-large`, `invalid-request`.
    init(of request: Request, upTo limit: Int) async throws {
        let bytes = try await request.bytes(upTo: limit)
        guard bytes.count(where: { $0 == UInt8(ascii: "&") }) < Self.maxFields else {
            throw Problem(.invalidRequest, "The form may have \(Self.maxFields) fields at most. Nothing was sent.")
        }
        self.init(String(decoding: bytes, as: UTF8.self))
    }
}

// Other sites must not sign anybody in or out.
extension Request {
    /// Whether a form is sent from a page of this server.
    var isOfOurPage: Bool {
        // Browsers send this header over HTTPS and to localhost, and `Origin` with every POST.
        if let site = headers[.secFetchSite] { return site == "same-origin" || site == "none" }
        // A client without `Origin` is not a browser, so there is no user whose cookie could be misused.
        guard let origin = headers[.origin] else { return true }
        // If the page is known to be from HTTPS, an origin with `http` is another site.
        let schemes = viaTLSProxy ? ["https://"] : ["https://", "http://"]
        return schemes.contains { origin.lowercased() == $0 + (head.authority?.lowercased() ?? "") }
    }

    /// - Throws: `forbidden`. Such a form is not counted as an attempt with a wrong key.
    func checkOrigin() throws(Problem) {
        guard !isOfOurPage else { return }
        throw Problem(
            .forbidden,
            "This form is not from a page of this server. Nothing was sent. Open the console and use the form there.")
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
    /// The problem as the console shows it.
    ///
    /// - Returns: `nil` for an error that is not about the request.
    init?(shown error: any Error) {
        guard let problem = error as? Problem, problem.kind != .internalError else { return nil }
        self = problem
        guard problem.status == 412 else { return }
        // The API's detail has the names of headers, which say nothing to people.
        self.detail =
            "It exists already, or it was changed or deleted since its page was made. Nothing was sent. Open its page to "
            + "see what is there now, or choose another name."
    }
}

/// Why a form was refused: the problem, and the fields to correct. The page shows this refusal with the form.
typealias FormRefusal = (said: String, faults: [FieldError])
