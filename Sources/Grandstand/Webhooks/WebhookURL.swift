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
        guard TextRule.webhookUrl.accepts(rawValue), let colon = rawValue.firstIndex(of: ":"),
            let scheme = Scheme(rawValue: rawValue[..<colon].lowercased()),
            rawValue[colon...].hasPrefix("://")
        else { return nil }
        let rest = rawValue[colon...].dropFirst(3)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard let (host, port) = Self.split(rest[..<end]) else { return nil }
        let standard = scheme == .https ? 443 : 80
        self.rawValue = rawValue
        self.scheme = scheme
        self.host = host
        self.port = port ?? standard
        let name = host.contains(":") ? "[\(host)]" : host
        authority = self.port == standard ? name : "\(name):\(self.port)"
    }

    /// The URL without path and query, which may contain a token. The audit log and people who do not own the webhook
    /// see only this.
    package var origin: String { "\(scheme.rawValue)://\(authority)" }

    /// The address, if the host is an IP address.
    package var address: IPAddress? { IPAddress(host) }

    private static func split(_ authority: Substring) -> (host: String, port: Int?)? {
        var host = authority
        var port: Int?
        let bracket = authority.lastIndex(of: "]")
        if let colon = authority.lastIndex(of: ":"), bracket.map({ $0 < colon }) ?? true {
            let digits = authority[colon...].dropFirst()
            guard !digits.isEmpty, digits.count <= 5, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(digits), (1...65_535).contains(number)
            else { return nil }
            port = number
            host = authority[..<colon]
        }
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), let address = IPAddress(String(host.dropFirst().dropLast())),
                address.bytes.count == 16
            else { return nil }
            return (host.dropFirst().dropLast().lowercased(), port)
        }
        let isName = host.utf8.allSatisfy { $0.isAlphanumeric || "-._".utf8.contains($0) }
        guard isName, (1...253).contains(host.utf8.count), !host.hasPrefix("."), !host.contains("..") else {
            return nil
        }
        return (host.lowercased(), port)
    }
}
