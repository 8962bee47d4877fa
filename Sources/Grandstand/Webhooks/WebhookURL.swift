internal import GrandstandContract

/// An absolute `http` or `https` URL: of a webhook, or of APNs. It is parsed strictly: text in which two parsers could
/// see two different hosts (user names, backslashes, spaces) is not accepted.
package struct WebhookURL: Sendable, Hashable, RawRepresentable, Decodable {
    package enum Scheme: String, Sendable, Hashable {
        case http
        case https
    }

    package let rawValue: String
    package let scheme: Scheme
    /// In lower case; an IPv6 address without its brackets.
    package let host: String
    package let port: Int
    /// Host and port as the `Host` header has them.
    package let authority: String

    /// The rule for URLs as a sentence, for error messages.
    package static let rule = TextRule.webhookUrl.sentence

    /// `nil` for text that breaks the rule.
    package init?(rawValue: String) {
        // The scheme; the host, an address in brackets or a name; the port.
        let form = /(https?):\/\/(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]{1,253}))(?::([0-9]{1,5}))?(?:[\/?].*)?/
        guard TextRule.webhookUrl.accepts(rawValue), let parts = rawValue.lowercased().wholeMatch(of: form),
            let scheme = Scheme(rawValue: String(parts.1)), let host = parts.2 ?? parts.3
        else { return nil }
        let address = IPAddress(String(host))
        let standard = scheme == .https ? 443 : 80
        // C libraries accept more forms of an address, such as `127.1` and `0x7f.1`. No public name's last part begins
        // with a digit.
        guard !host.hasPrefix("."), !host.contains(".."), (parts.2 != nil) == (address?.bytes.count == 16),
            address != nil || host.split(separator: ".").last?.first?.isNumber != true,
            let port = parts.4.map({ Int($0) }) ?? standard, (1...65_535).contains(port)
        else { return nil }
        self.rawValue = rawValue
        self.scheme = scheme
        self.host = String(host)
        self.port = port
        authority = (parts.2.map { "[\($0)]" } ?? self.host) + (port == standard ? "" : ":\(port)")
    }

    /// The URL without path and query, which may contain a token. The audit log and people who do not own the webhook
    /// see only this.
    package var origin: String { "\(scheme.rawValue)://\(authority)" }

    /// The address, if the host is an IP address or `localhost` (RFC 6761).
    package var address: IPAddress? { IPAddress(host == "localhost" ? "127.0.0.1" : host) }
}
