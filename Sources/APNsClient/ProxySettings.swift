internal import FoundationEssentials
internal import Grandstand
package import HTTP2

/// The HTTP proxy, and the hosts that are reached without it: `HTTPS_PROXY` and `NO_PROXY` in the usual format.
package struct ProxySettings: Sendable, Hashable {
    private var proxy: HTTP2Proxy?
    /// Hosts, and domains with all their subdomains, in lower case and without a leading dot.
    private var exceptions: [String] = []

    /// No proxy.
    package init() {}

    /// - Parameters:
    ///   - url: for example `http://user:password@proxy.example.com:3128`. The scheme is optional, and the default port
    ///     is 8080.
    ///   - exceptions: `NO_PROXY`: hosts and domains separated by commas; `*`: all.
    /// - Returns: `nil` if `url` is not an HTTP proxy. A proxy with TLS is not supported.
    package init?(url: String, exceptions: String = "") {
        guard let proxy = Self.parse(url) else { return nil }
        self.proxy = proxy
        self.exceptions = exceptions.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }).map { name in
            String(name.hasPrefix("*.") ? name.dropFirst(2) : name.hasPrefix(".") ? name.dropFirst() : name)
        }
    }

    /// The proxy for connections to `host`; `nil`: none.
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
        // Host and port follow the same rules as those of APNs' endpoints.
        let isPortNamed = rest.hasPrefix("[") ? rest.contains("]:") : rest.contains(":")
        guard let place = Endpoint(url: "https://\(rest)\(isPortNamed ? "" : ":8080")") else { return nil }
        return HTTP2Proxy(host: place.host, port: place.port, authorization: authorization)
    }
}
