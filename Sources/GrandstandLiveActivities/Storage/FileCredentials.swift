package import Foundation

/// Stores a credential in a file that only the owner can read. This store is for systems without a keychain, and for
/// tests.
package struct FileCredentials: CredentialStore {
    private let file: URL

    package init(file: URL) { self.file = file }

    package func load() throws -> InstallationCredential? {
        guard let data = try LockedFile.read(file) else { return nil }
        return try JSONDecoder().decode(InstallationCredential.self, from: data)
    }

    package func keep(
        _ new: InstallationCredential, insteadOf old: InstallationCredential?
    ) throws -> InstallationCredential {
        try LockedFile.locked(file) {
            if let kept = try load(), kept != old { return kept }
            try LockedFile.replace(file, with: JSONEncoder().encode(new))
            return new
        }
    }

    package func remove() throws {
        try LockedFile.locked(file) {
            if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
        }
    }
}
