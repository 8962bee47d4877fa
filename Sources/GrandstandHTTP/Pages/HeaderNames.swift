internal import HTTPTypes

// The literals are tokens of RFC 9110, so they have names.
extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
    static let xForwardedProto = HTTPField.Name("X-Forwarded-Proto")!
    /// What the page's script was told, when it fetches the page again.
    static let grandstandLive = HTTPField.Name("Grandstand-Live")!
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}
