internal import HTTPTypes

/// The header fields that every answer has, from whatever handler: browsers take nothing in it for a page or a script
/// of ours (unless a page says otherwise), and stay with HTTPS once they came by it (RFC 6797).
package struct StandingHeaders: Sendable {
    let fields: HTTPFields
    /// The same as they go over the wire, each with its line's end.
    let bytes: [UInt8]

    package init(isSecure: Bool) {
        var fields: HTTPFields = [
            .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        if isSecure { fields[.strictTransportSecurity] = "max-age=31536000" }
        self.fields = fields
        bytes = fields.flatMap { Array("\($0.name.rawName): \($0.value)\r\n".utf8) }
    }

    /// Adds what is not said yet.
    func complete(_ headers: inout HTTPFields) {
        for field in fields where headers[field.name] == nil { headers.append(field) }
    }
}
