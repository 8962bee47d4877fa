internal import FoundationEssentials
internal import Grandstand
package import HTTP2

/// Which hosts are reached through an HTTP proxy: `HTTPS_PROXY` and `NO_PROXY` as most programs read them.
package struct ProxySettings: Sendable, Hashable {
    private var proxy: HTTP2Proxy?
    /// Hosts, and domains with everything below them; lowercase, without a leading dot.
    private var exceptions: [String] = []

    /// Straight to every host.
    package init() {}

    /// - Parameters:
    ///   - url: such as `http://user:password@proxy.example.com:3128`; the scheme and the port 8080 may be left out.
    ///   - exceptions: `NO_PROXY`: hosts and domains separated by commas; `*` for all.
    /// - Returns: `nil` when `url` names no HTTP proxy. One that is spoken to over TLS is not supported.
    package init?(url: String, exceptions: String = "") {
        guard let proxy = Self.parse(url) else { return nil }
        self.proxy = proxy
        self.exceptions = exceptions.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }).map { name in
            String(name.hasPrefix("*.") ? name.dropFirst(2) : name.hasPrefix(".") ? name.dropFirst() : name)
        }
    }

    /// The proxy on the way to `host`, if there is one.
    package func proxy(for host: String) -> HTTP2Proxy? {
        let host = host.lowercased()
        let isException = exceptions.contains { $0 == "*" || host == $0 || host.hasSuffix("." + $0) }
        return isException ? nil : proxy
    }

    private static func parse(_ url: String) -> HTTP2Proxy? {
        var rest = url[...]
        if let scheme = rest.firstRange(of: "://") {
            guard rest[..<scheme.lowerBound].lowercased() == "http" else { return nil }
            rest = rest[scheme.upperBound...]
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        var authorization: String?
        if let at = rest.lastIndex(of: "@") {
            guard let credentials = PercentEncoding.bytes(rest[..<at]) else { return nil }
            authorization = "Basic " + Data(credentials).base64EncodedString()
            rest = rest[rest.index(after: at)...]
        }
        // The same rules for host and port as for APNs' own.
        let isPortNamed = rest.hasPrefix("[") ? rest.contains("]:") : rest.contains(":")
        guard let place = Endpoint(url: "https://\(rest)\(isPortNamed ? "" : ":8080")") else { return nil }
        return HTTP2Proxy(host: place.host, port: place.port, authorization: authorization)
    }
}
