internal import Cryptography
internal import FoundationEssentials
internal import Grandstand

/// The secret of a browser's session: 256 random bits. The server stores only a hash of the secret, so a person who
/// reads the database cannot authenticate data with it.
struct SessionSecret: Sendable {
    /// The text in the cookie: base64url.
    let text: String
    private let key: [UInt8]

    /// Makes a new secret.
    init() {
        key = randomBytes(32)
        text = Base64URL.text(key)
    }

    /// - Returns: `nil` for text that is not a secret.
    init?(_ text: String) {
        guard let bytes = Base64URL.bytes(text), bytes.count == 32 else { return nil }
        self.text = text
        key = bytes
    }

    /// The session's ID: the hash of the secret.
    var id: [UInt8] { SHA256.hash(key) }

    /// The purpose of the data that a tag authenticates. A tag for one purpose is not valid for another.
    enum Purpose: String {
        case form, notice
    }

    /// A tag of 32 bytes over `bytes`.
    func tag(_ bytes: [UInt8], _ purpose: Purpose) -> [UInt8] {
        SHA256.hmac(Array("grandstand \(purpose.rawValue)\n".utf8) + bytes, key: key)
    }

    /// Checks a tag in constant time.
    func isTag(_ tag: some Sequence<UInt8>, of bytes: [UInt8], _ purpose: Purpose) -> Bool {
        isEqualInConstantTime(Array(tag), self.tag(bytes, purpose))
    }
}
