public import Foundation
internal import GrandstandClient

/// The ID of an installation, and its secret. Both are stored together, so that an ID is never without its secret.
public struct InstallationCredential: Codable, Sendable, Hashable {
    /// The ID, made by the app.
    public let installation: UUID
    private let drawn: Secret

    /// 32 random bytes in base64url. The app draws the secret once and sends it with each call. The secret is left out
    /// when the credential is printed.
    public var secret: String { drawn.rawValue }

    private enum CodingKeys: String, CodingKey {
        case installation
        case drawn = "secret"
    }

    /// Draws a new credential from the system's random numbers.
    public static func draw() -> InstallationCredential {
        InstallationCredential(installation: UUID(), drawn: .draw())
    }
}

/// Stores the credential in the keychain, or in a file on systems without a keychain.
public protocol CredentialStore: Sendable {
    /// The credential; `nil` if no credential was ever stored.
    ///
    /// - Throws: if it is unknown whether there is a credential, as before the first unlock after a restart. In this
    ///   case, no new credential may be drawn, because the phone would become another installation.
    func load() throws -> InstallationCredential?

    /// Stores a credential in place of `old`, unless another process was faster.
    ///
    /// - Returns: the credential that is stored now.
    func keep(_ new: InstallationCredential, insteadOf old: InstallationCredential?) throws -> InstallationCredential

    /// Deletes the credential.
    func remove() throws
}
