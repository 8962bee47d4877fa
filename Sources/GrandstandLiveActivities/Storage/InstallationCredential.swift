public import Foundation
internal import GrandstandClient

/// Who an installation is, and what proves it. Both are kept together, so that a name is never without its secret.
public struct InstallationCredential: Codable, Sendable, Hashable {
    /// The name, made by the app.
    public let installation: UUID
    private let drawn: Secret

    /// 32 random bytes in base64url; drawn once and sent with each call. It is not printed with the credential.
    public var secret: String { drawn.rawValue }

    private enum CodingKeys: String, CodingKey {
        case installation
        case drawn = "secret"
    }

    /// A new one, from the system's source of randomness.
    public static func draw() -> InstallationCredential {
        InstallationCredential(installation: UUID(), drawn: .draw())
    }
}

/// Where the credential is kept: the keychain, or a file where there is none.
public protocol CredentialStore: Sendable {
    /// The credential, or `nil` where none was ever kept.
    ///
    /// - Throws: where it cannot be told whether there is one, as before the first unlock after a restart. Then none may be
    ///   drawn: the installation would become another one.
    func load() throws -> InstallationCredential?

    /// Keeps a credential in place of `old`, unless somebody else was faster.
    ///
    /// - Returns: the one that is kept now.
    func keep(_ new: InstallationCredential, insteadOf old: InstallationCredential?) throws -> InstallationCredential

    /// Forgets it.
    func remove() throws
}
