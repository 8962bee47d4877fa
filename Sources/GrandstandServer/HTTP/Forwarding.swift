internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

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
    var cameByHTTPS: Bool {
        headers[.xForwardedProto]?.prefix { $0 != "," }.filter { $0 != " " }.lowercased() == "https"
    }
}

// The force-unwraps are safe: the literals are valid field names (RFC 9110).
extension HTTPField.Name {
    fileprivate static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
    fileprivate static let xForwardedHost = HTTPField.Name("X-Forwarded-Host")!
}
