/// Decides which addresses webhook messages may be posted to: public ones, and those that the operator allows.
/// Otherwise a caller that may name a URL could reach addresses that only this machine can reach.
package struct NetworkGuard: Sendable, Hashable {
    /// Networks that are allowed although they are not public.
    package var allowed: [IPNetwork]
    /// Whether `http` URLs are accepted. Bodies and signatures are then sent unencrypted.
    package var allowsPlainHTTP: Bool

    package init(allowed: [IPNetwork] = [], allowsPlainHTTP: Bool = false) {
        self.allowed = allowed
        self.allowsPlainHTTP = allowsPlainHTTP
    }

    /// Whether `address` may be called.
    package func allows(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return allowed.contains { $0.contains(address) } || Self.isPublic(address)
    }

    /// Why `url` cannot be the URL of a webhook, as far as this is known without resolving the host name; `nil`: no
    /// reason is known.
    package func fault(of url: WebhookURL) -> String? {
        if url.scheme == .http, !allowsPlainHTTP {
            return "An https URL was expected; GRANDSTAND_WEBHOOK_HTTP=true allows http."
        }
        guard let address = url.address, !allows(address) else { return nil }
        return Self.advice(url.host)
    }

    /// The sentence for a person whose webhook's URL is refused because of its address.
    package static func advice(_ host: String) -> String {
        "\(host) is not a public address; GRANDSTAND_WEBHOOK_NETWORKS can allow its network."
    }

    /// Whether the address is on the public internet, by IANA's special-purpose registries for IPv4 and for IPv6.
    private static func isPublic(_ address: IPAddress) -> Bool {
        if address.bytes.count == 4 { return !special4.contains { $0.contains(address) } }
        // Whether a NAT64 address (RFC 6052) is public depends on the IPv4 address in its last four bytes.
        if nat64.contains(where: { $0.contains(address) }) {
            return IPAddress(bytes: Array(address.bytes[12...])).map(isPublic) ?? false
        }
        return global6.contains { $0.contains(address) } && !special6.contains { $0.contains(address) }
    }

    private static let special4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    ].compactMap(IPNetwork.init)

    private static let nat64 = ["64:ff9b::/96"].compactMap(IPNetwork.init)
    private static let global6 = ["2000::/3"].compactMap(IPNetwork.init)
    /// Networks that are not public: those of protocols such as Teredo and ORCHID, those for documentation, and 6to4. A
    /// 6to4 address contains an IPv4 address, which need not be public.
    private static let special6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].compactMap(IPNetwork.init)
}
