internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// The header fields of every answer. These fields forbid browsers to load a script or another resource for an answer
/// and to show the answer in a frame, unless a page sets its own policy. If this server uses HTTPS, a further field
/// makes browsers use only HTTPS for this server (RFC 6797).
struct CommonHeaders: Sendable {
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
        if !headers.contains(.cacheControl) { headers[.cacheControl] = "no-store" }
        for field in fields where !headers.contains(field.name) { headers.append(field) }
        guard let standing else { return }
        // These fields have the form that most clients read. The literals are valid field names (RFC 9110).
        headers[HTTPField.Name("RateLimit-Limit")!] = String(standing.limit)
        headers[HTTPField.Name("RateLimit-Remaining")!] = String(standing.remaining)
        headers[HTTPField.Name("RateLimit-Reset")!] = String(standing.reset)
    }
}

// The force-unwraps are safe: the literals are valid field names (RFC 9110).
extension HTTPField.Name {
    /// Identifies the request in answers, problems and logs.
    static let xRequestID = HTTPField.Name("X-Request-Id")!
    fileprivate static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
    fileprivate static let xForwardedHost = HTTPField.Name("X-Forwarded-Host")!
}

extension Request {
    /// The request as the client sent it. If the peer is a trusted proxy, this sets the caller's address in `context`
    /// and takes the authority from `X-Forwarded-Host`.
    ///
    /// `X-Forwarded-Proto` is trusted from every peer. A false value only affects the caller: its cookie and the check
    /// of its forms become as strict as with HTTPS.
    func forwarded(by proxies: TrustedProxies, _ context: inout APIContext) -> Request {
        guard let peer = context.peer, proxies.contains(peer) else { return self }
        context.callerAddress = proxies.caller(of: peer, forwardedFor: headers[values: .xForwardedFor])
        guard let host = headers[.xForwardedHost], !host.isEmpty, !host.contains(",") else { return self }
        var head = head
        head.authority = host
        return Request(head: head, body: body)
    }

    /// Whether a proxy says that the client's own connection uses HTTPS. Of several proxies, the first one knows.
    var viaTLSProxy: Bool {
        headers[.xForwardedProto]?.prefix { $0 != "," }.filter { $0 != " " }.lowercased() == "https"
    }
}

extension HTTPFields {
    /// The version of an object that clients write with PUT, as its `ETag`.
    ///
    /// The tag is the version of the declaration and does not change with fields that the server adds, such as the state
    /// of a channel. Caches do not rely on the tag, because answers are `no-store`. A proxy that compresses an answer
    /// makes its tag weak, or appends the compression's name, although the version is the same. So the answers forbid
    /// that (`no-transform`), and both forms are accepted, too.
    static func version(_ version: Int) -> HTTPFields {
        [.eTag: "\"\(version)\"", .cacheControl: "no-store, no-transform"]
    }
}

extension Request {
    /// The condition that the writer sets for the object.
    func writeCondition() throws(Problem) -> WriteCondition {
        try WriteCondition(ifMatch: headers[.ifMatch], ifNoneMatch: headers[.ifNoneMatch])
    }
}

/// A value with the version in its `ETag`.
package struct Versioned<Value: Sendable>: Sendable {
    package var value: Value
    package let version: Int
}

extension Versioned: Decodable where Value: Decodable {
    private enum CodingKeys: CodingKey { case version }

    /// Reads a row whose further column `version` is that of the value.
    package init(from decoder: any Decoder) throws {
        value = try Value(from: decoder)
        version = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .version)
    }
}
