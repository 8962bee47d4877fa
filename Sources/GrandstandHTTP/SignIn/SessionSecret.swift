internal import Crypto
internal import FoundationEssentials
internal import Grandstand

/// The secret of a browser's session: 256 random bits. The server stores only a hash of the secret, so a person who
/// reads the database cannot authenticate data with it.
struct SessionSecret: Sendable {
    /// The text in the cookie: base64url.
    let text: String
    private let key: SymmetricKey

    /// Makes a new secret.
    init() {
        key = SymmetricKey(size: .bits256)
        text = key.withUnsafeBytes { Base64URL.text($0) }
    }

    /// - Returns: `nil` for text that is not a secret.
    init?(_ text: String) {
        guard let bytes = Base64URL.bytes(text), bytes.count == 32 else { return nil }
        self.text = text
        key = SymmetricKey(data: bytes)
    }

    /// The session's ID: the hash of the secret.
    var id: [UInt8] { key.withUnsafeBytes { Array(SHA256.hash(data: Data($0))) } }

    /// The purpose of the data that a tag authenticates. A tag for one purpose is not valid for another.
    enum Purpose: String {
        case form, notice
    }

    /// A tag of 32 bytes over `bytes`.
    func tag(_ bytes: [UInt8], _ purpose: Purpose) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Self.content(bytes, purpose), using: key))
    }

    /// Checks a tag in constant time.
    func isTag(_ tag: some Sequence<UInt8>, of bytes: [UInt8], _ purpose: Purpose) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(Data(tag), authenticating: Self.content(bytes, purpose), using: key)
    }

    private static func content(_ bytes: [UInt8], _ purpose: Purpose) -> Data {
        Data("grandstand \(purpose.rawValue)\n".utf8) + Data(bytes)
    }
}
