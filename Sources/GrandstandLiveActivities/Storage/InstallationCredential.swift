public import Foundation

/// Who an installation is, and what proves it. Both are kept together, so that a name is never without its secret.
public struct InstallationCredential: Codable, Sendable, Hashable {
    /// The name, made by the app.
    public let installation: UUID
    /// 32 random bytes in base64url; drawn once and sent with each call.
    public let secret: String

    /// A new one, from the system's source of randomness.
    public static func draw() -> InstallationCredential {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let secret = Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return InstallationCredential(installation: UUID(), secret: secret)
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
