/// The proxies that are trusted to say where a request came from and for which host it was. Pure.
package struct TrustedProxies: Sendable, Hashable {
    private let networks: [IPNetwork]

    package init(_ networks: [IPNetwork] = []) { self.networks = networks }

    /// Whether `peer`, the other end of a connection, is a trusted proxy.
    package func contains(_ peer: IPAddress) -> Bool {
        let peer = peer.unmapped
        return networks.contains { $0.contains(peer) }
    }

    /// The caller's address: the peer's, or, if the peer is a trusted proxy, the last address in `X-Forwarded-For` that
    /// is not a trusted proxy's. Each proxy appends the address that called it, so addresses further left can be
    /// forged.
    ///
    /// - Parameter forwardedFor: the header's values, in order; each may be a list.
    package func caller(of peer: IPAddress, forwardedFor: [String]) -> IPAddress {
        var caller = peer.unmapped
        for word in forwardedFor.flatMap({ $0.split(separator: ",") }).reversed() where contains(caller) {
            guard let earlier = Self.address(word) else { break }
            caller = earlier.unmapped
        }
        return caller
    }

    /// An address, with a port behind it or without; IPv6 with or without brackets.
    private static func address(_ word: Substring) -> IPAddress? {
        let text = word.filter { $0 != " " && $0 != "\t" }
        if text.hasPrefix("[") { return IPAddress(String(text.dropFirst().prefix { $0 != "]" })) }
        if let address = IPAddress(text) { return address }
        return IPAddress(String(text.prefix { $0 != ":" }))
    }
}
