internal import Cryptography
internal import FoundationEssentials
internal import Grandstand

/// The token of a form. The token proves that the form is from a page of this session and not too old. The number in
/// the token identifies the form, so that a form that is sent twice is recognised.
struct FormToken: Sendable, Equatable {
    /// 16 random bytes, different for every page.
    let number: [UInt8]

    /// Seconds for which a form can be sent: four hours, longer than a match.
    static let lifetime: TimeInterval = 14_400

    /// The result of reading a token.
    enum Reading: Equatable {
        case valid(FormToken)
        case expired
        /// The text is not a token of this session.
        case foreign
    }

    /// The text of a new token.
    static func text(for session: SessionSecret, now: Date) -> String {
        let number = randomBytes(16)
        let end = UInt64(max(0, now.timeIntervalSince1970 + lifetime))
        let content = number + (0..<8).map { UInt8(truncatingIfNeeded: end >> (56 - 8 * $0)) }
        return Base64URL.text(content + session.tag(content, .form))
    }

    static func read(_ text: String?, for session: SessionSecret, now: Date) -> Reading {
        guard let bytes = text.flatMap({ Base64URL.bytes($0) }), bytes.count == 56 else { return .foreign }
        let content = Array(bytes.prefix(24))
        guard session.isTag(bytes.dropFirst(24), of: content, .form) else { return .foreign }
        let end = content.dropFirst(16).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard TimeInterval(end) > now.timeIntervalSince1970 else { return .expired }
        return .valid(FormToken(number: Array(content.prefix(16))))
    }

    /// The idempotency key of a form's action. The key stays the same if the form is sent again with the same fields.
    /// With other fields, the key is different.
    func idempotencyKey(_ path: String, _ fields: FormFields) -> String {
        let content = fields.entries.filter { $0.name != "token" }.map { "\($0.name)=\($0.value)" }
        return "console-"
            + Base64URL.text(SHA256.hash(number + Array("\(path)\n\(content.joined(separator: "\n"))".utf8)))
    }
}
