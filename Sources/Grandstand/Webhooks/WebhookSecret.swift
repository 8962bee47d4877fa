internal import FoundationEssentials

/// A signing secret as Standard Webhooks writes it: `whsec_` and 24 to 64 bytes in base64. The database stores the
/// secret itself and not a hash, because the server signs messages with the secret.
package struct WebhookSecret: Sendable, Hashable, RawRepresentable, Decodable {
    package let bytes: [UInt8]

    package var rawValue: String { Self.prefix + Data(bytes).base64EncodedString() }

    /// `nil` for text of another form.
    package init?(rawValue: String) {
        guard rawValue.hasPrefix(Self.prefix),
            let bytes = Data(base64Encoded: String(rawValue.dropFirst(Self.prefix.count))),
            (24...64).contains(bytes.count)
        else { return nil }
        self.bytes = Array(bytes)
    }

    /// A new secret of 256 random bits.
    package static func random() -> WebhookSecret {
        WebhookSecret(bytes: (0..<32).map { _ in .random(in: .min ... .max) })
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private static let prefix = "whsec_"
}

/// Keeps the secret out of logs.
extension WebhookSecret: CustomStringConvertible {
    package var description: String { "whsec_…" }
}
