internal import Grandstand
internal import HTTPTypes

/// The header fields that every answer has, from whatever handler: browsers take nothing in it for a page or a script
/// of ours (unless a page says otherwise), and stay with HTTPS once they came by it (RFC 6797).
package struct StandingHeaders: Sendable {
    let fields: HTTPFields

    package init(isSecure: Bool) {
        var fields: HTTPFields = [
            .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        if isSecure { fields[.strictTransportSecurity] = "max-age=31536000" }
        self.fields = fields
    }

    /// Adds to an answer's fields the request's name, how its key stands to its limit, and what is not said yet.
    ///
    /// - Parameter standing: `nil`: the key has no limit, or there was no key.
    func complete(_ headers: inout HTTPFields, requestID: String, standing: RateLimit.Standing?) {
        headers[.xRequestID] = requestID
        if !headers.contains(.cacheControl) { headers.append(Self.noStore) }
        for field in fields where !headers.contains(field.name) { headers.append(field) }
        guard let standing else { return }
        // As most clients read them.
        headers[.rateLimitLimit] = String(standing.limit)
        headers[.rateLimitRemaining] = String(standing.remaining)
        headers[.rateLimitReset] = String(standing.reset)
    }

    private static let noStore = HTTPField(name: .cacheControl, value: "no-store")
}

// The literals are tokens of RFC 9110, so they have names.
extension HTTPField.Name {
    /// Names the request in answers, problems and logs.
    static let xRequestID = HTTPField.Name("X-Request-Id")!
    fileprivate static let rateLimitLimit = HTTPField.Name("RateLimit-Limit")!
    fileprivate static let rateLimitRemaining = HTTPField.Name("RateLimit-Remaining")!
    fileprivate static let rateLimitReset = HTTPField.Name("RateLimit-Reset")!
}
