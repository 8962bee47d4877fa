internal import Crypto
internal import FoundationEssentials
internal import Grandstand

/// What a browser has of its session: 256 random bits. The server keeps a hash of them, so what is sealed with them is
/// made by nobody who reads the database.
struct SessionSecret: Sendable {
    /// As the cookie has it: base64url.
    let text: String
    private let key: SymmetricKey

    /// A new one.
    init() {
        key = SymmetricKey(size: .bits256)
        text = key.withUnsafeBytes { Base64URL.text($0) }
    }

    /// - Returns: `nil` for text that is none.
    init?(_ text: String) {
        guard let bytes = Base64URL.bytes(text), bytes.count == 32 else { return nil }
        self.text = text
        key = SymmetricKey(data: bytes)
    }

    /// Names the session.
    var id: [UInt8] { key.withUnsafeBytes { Array(SHA256.hash(data: Data($0))) } }

    /// What the seals are for: one is no other.
    enum Purpose: String {
        case form, notice
    }

    /// A tag of 32 bytes over `bytes`.
    func tag(_ bytes: [UInt8], _ purpose: Purpose) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Self.content(bytes, purpose), using: key))
    }

    /// In constant time.
    func isTag(_ tag: some Sequence<UInt8>, of bytes: [UInt8], _ purpose: Purpose) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(Data(tag), authenticating: Self.content(bytes, purpose), using: key)
    }

    private static func content(_ bytes: [UInt8], _ purpose: Purpose) -> Data {
        Data("grandstand \(purpose.rawValue)\n".utf8) + Data(bytes)
    }
}
