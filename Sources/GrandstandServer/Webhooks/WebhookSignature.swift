internal import Cryptography
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
        let content = Array("\(id).\(timestamp).".utf8) + body
        let signatures = secrets.map { "v1,\(Data(SHA256.hmac(content, key: $0.bytes)).base64EncodedString())" }
        return [
            ("webhook-id", id), ("webhook-timestamp", timestamp),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}
