package import APNsWire
internal import Grandstand

/// The destination of one kind of call in one environment.
package struct Endpoint: Sendable, Hashable {
    package let host: String
    package let port: Int

    /// The `:authority` of requests. The port 443 is left out.
    let authority: String

    /// Parses a base URL such as `https://api.push.apple.com:443`. The port is part of the endpoint, because Apple's
    /// management ports differ by environment (docs/internals/apns.md C19); the default is 443.
    ///
    /// - Returns: `nil` for other text, including a URL with a path.
    package init?(url text: String) {
        guard let url = WebhookURL(rawValue: text), url.scheme == .https,
            ["", "/"].contains(text.dropFirst("https://".count).drop { $0 != "/" && $0 != "?" })
        else { return nil }
        (host, port, authority) = (url.host, url.port, url.authority)
    }
}

/// The endpoints for sending and for management in both environments.
package struct Endpoints: Sendable, Hashable {
    package var send: [APNsEnvironment: Endpoint]
    package var manage: [APNsEnvironment: Endpoint]

    package init(send: [APNsEnvironment: Endpoint], manage: [APNsEnvironment: Endpoint]) {
        self.send = send
        self.manage = manage
    }
}
