internal import Crypto
internal import FoundationEssentials
internal import Grandstand

/// The three headers of Standard Webhooks. With these headers, a receiver checks that a message comes from this server,
/// is unchanged and is recent.
enum WebhookSignature {
    /// - Parameter secrets: each signs the message. While a secret is being replaced, there are two secrets.
    static func headers(
        id: String, at date: Date, body: [UInt8], secrets: [WebhookSecret]
    ) -> [(name: String, value: String)] {
        let timestamp = String(Int(date.timeIntervalSince1970))
        let content = Data("\(id).\(timestamp).".utf8) + Data(body)
        let signatures = secrets.map { secret in
            let code = HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: secret.bytes))
            return "v1,\(Data(code).base64EncodedString())"
        }
        return [
            ("webhook-id", id), ("webhook-timestamp", timestamp),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}
