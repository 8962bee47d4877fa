internal import Grandstand
internal import HTTPTypes

/// The header fields of every answer. These fields forbid browsers to load a script or another resource for an answer
/// and to show the answer in a frame, unless a page sets its own policy. If this server uses HTTPS, a further field
/// makes browsers use only HTTPS for this server (RFC 6797).
struct StandingHeaders: Sendable {
    let fields: HTTPFields

    init(isSecure: Bool) {
        var fields: HTTPFields = [
            .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        if isSecure { fields[.strictTransportSecurity] = "max-age=31536000" }
        self.fields = fields
    }

    /// Adds the request's ID, the rate limit, and all common fields that are not set yet.
    ///
    /// - Parameter standing: `nil`: the key has no limit, or there was no key.
    func complete(_ headers: inout HTTPFields, requestID: String, standing: RateLimit.Standing?) {
        headers[.xRequestID] = requestID
        if !headers.contains(.cacheControl) { headers.append(Self.noStore) }
        for field in fields where !headers.contains(field.name) { headers.append(field) }
        guard let standing else { return }
        // These fields have the form that most clients read.
        headers[.rateLimitLimit] = String(standing.limit)
        headers[.rateLimitRemaining] = String(standing.remaining)
        headers[.rateLimitReset] = String(standing.reset)
    }

    private static let noStore = HTTPField(name: .cacheControl, value: "no-store")
}

// The force-unwraps are safe: the literals are valid field names (RFC 9110).
extension HTTPField.Name {
    /// Identifies the request in answers, problems and logs.
    static let xRequestID = HTTPField.Name("X-Request-Id")!
    fileprivate static let rateLimitLimit = HTTPField.Name("RateLimit-Limit")!
    fileprivate static let rateLimitRemaining = HTTPField.Name("RateLimit-Remaining")!
    fileprivate static let rateLimitReset = HTTPField.Name("RateLimit-Reset")!
}
