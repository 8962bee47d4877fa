package import APNsWire

/// The destination of one kind of call in one environment.
package struct Endpoint: Sendable, Hashable {
    package let host: String
    package let port: Int

    /// Parses a base URL such as `https://api.push.apple.com:443`. The port is part of the endpoint, because Apple's
    /// management ports differ by environment (docs/internals/apns.md C19); the default is 443.
    ///
    /// - Returns: `nil` for other text, including a URL with a path.
    package init?(url: String) {
        guard url.hasPrefix("https://") else { return nil }
        var rest = url.dropFirst("https://".count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        let end: Substring.Index
        if rest.hasPrefix("["), let bracket = rest.firstIndex(of: "]") {
            host = String(rest[..<bracket].dropFirst())
            guard Self.isAddress(host) else { return nil }
            end = rest.index(after: bracket)
        } else {
            end = rest.firstIndex(of: ":") ?? rest.endIndex
            host = String(rest[..<end])
            guard Self.isName(host) else { return nil }
        }
        guard let port = Self.port(rest[end...]) else { return nil }
        self.port = port
    }

    /// The `:authority` of requests. The port 443 is left out.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }

    private static func port(_ text: Substring) -> Int? {
        if text.isEmpty { return 443 }
        // A port has only digits. `Int` alone would also accept a sign.
        guard text.hasPrefix(":"), text.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(text.dropFirst()), (1...65_535).contains(port)
        else { return nil }
        return port
    }

    /// Whether the text is a host name or an IPv4 address.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Whether the text in brackets is an IPv6 address.
    private static func isAddress(_ text: String) -> Bool {
        text.contains(":") && text.allSatisfy { $0.isHexDigit && $0.isASCII || $0 == ":" || $0 == "." }
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
