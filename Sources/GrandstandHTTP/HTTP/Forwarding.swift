internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

extension Request {
    /// The request as its caller made it, where it came through proxies that are believed: `context` learns the caller's
    /// address, and the authority is the one that the caller asked for.
    ///
    /// `X-Forwarded-Proto` is believed from anybody: it does no more than make the caller's own cookie, and the check of
    /// its forms, as strict as HTTPS asks for.
    func forwarded(by proxies: TrustedProxies, _ context: inout APIContext) -> Request {
        guard let peer = context.peer, proxies.contains(peer) else { return self }
        context.callerAddress = proxies.caller(of: peer, forwardedFor: headers[values: .xForwardedFor])
        guard let host = headers[.xForwardedHost], !host.isEmpty, !host.contains(",") else { return self }
        var head = head
        head.authority = host
        return Request(head: head, body: body)
    }

    /// Whether the caller's own connection is HTTPS, as a proxy says that ended it.
    var cameByHTTPS: Bool { headers[.xForwardedProto]?.lowercased() == "https" }
}

// The literals are tokens of RFC 9110, so they have names.
extension HTTPField.Name {
    fileprivate static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
    fileprivate static let xForwardedHost = HTTPField.Name("X-Forwarded-Host")!
}
