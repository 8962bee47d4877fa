package import APNsWire

/// Where one kind of call of one environment goes.
package struct Endpoint: Sendable, Hashable {
    package let host: String
    package let port: Int

    /// Reads a base URL such as `https://api.push.apple.com:443`: scheme, host and, unless 443, port together, since
    /// Apple's management ports differ by environment (apns-contract C19).
    ///
    /// - Returns: `nil` for anything else, also with a path.
    package init?(url: String) {
        guard url.hasPrefix("https://") else { return nil }
        var rest = url.dropFirst("https://".count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.isEmpty, !rest.contains("/"), !rest.contains("@") else { return nil }
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            let tail = rest[rest.index(after: end)...]
            guard let port = Self.port(tail) else { return nil }
            self.port = port
        } else {
            let colon = rest.firstIndex(of: ":") ?? rest.endIndex
            host = String(rest[..<colon])
            guard let port = Self.port(rest[colon...]), !host.isEmpty else { return nil }
            self.port = port
        }
    }

    /// The `:authority` of requests: without the port that goes without saying.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }

    private static func port(_ text: Substring) -> Int? {
        if text.isEmpty { return 443 }
        guard text.hasPrefix(":"), let port = Int(text.dropFirst()), (1...65_535).contains(port) else { return nil }
        return port
    }
}

/// The four endpoints.
package struct Endpoints: Sendable, Hashable {
    package var send: [APNsEnvironment: Endpoint]
    package var manage: [APNsEnvironment: Endpoint]

    package init(send: [APNsEnvironment: Endpoint], manage: [APNsEnvironment: Endpoint]) {
        self.send = send
        self.manage = manage
    }
}
