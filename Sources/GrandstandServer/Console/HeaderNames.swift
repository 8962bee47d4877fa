internal import HTTPTypes

// The force-unwraps are safe: the literals are valid field names (RFC 9110).
extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
    static let xForwardedProto = HTTPField.Name("X-Forwarded-Proto")!
    /// The page's script sends this header when it fetches the page again.
    static let grandstandLive = HTTPField.Name("Grandstand-Live")!
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}
