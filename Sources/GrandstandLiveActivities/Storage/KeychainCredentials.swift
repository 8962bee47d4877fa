#if canImport(Security)
    internal import Foundation
    internal import Security

    /// A credential in the keychain of this device. A backup does not copy the credential to another phone, so the
    /// other phone becomes another installation. The credential survives the removal of the app, so a reinstalled app
    /// is the same installation.
    ///
    /// Because pushes launch apps in the background, the credential can be read while the phone is locked, if the phone
    /// was unlocked once since its restart.
    struct KeychainCredentials: CredentialStore {
        /// The app and its environment, as the account's name.
        let account: String

        private static let service = "grandstand.installation"

        private var item: [String: Any] {
            [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: Self.service,
                kSecAttrAccount as String: account,
            ]
        }

        func load() throws -> InstallationCredential? {
            var query = item
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data else { throw KeychainError(status: status) }
            return try JSONDecoder().decode(InstallationCredential.self, from: data)
        }

        func keep(
            _ new: InstallationCredential, insteadOf old: InstallationCredential?
        ) throws -> InstallationCredential {
            if let kept = try load() {
                guard kept == old else { return kept }
                try remove()
            }
            var attributes = item
            attributes[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            attributes[kSecValueData as String] = try JSONEncoder().encode(new)
            let status = SecItemAdd(attributes as CFDictionary, nil)
            if status == errSecDuplicateItem, let kept = try load() { return kept }
            guard status == errSecSuccess else { throw KeychainError(status: status) }
            return new
        }

        func remove() throws {
            let status = SecItemDelete(item as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
        }
    }

    /// The keychain could not be read or written, e.g. before the first unlock.
    struct KeychainError: Error, CustomStringConvertible {
        let status: OSStatus

        var description: String { "the keychain answered \(status)" }
    }
#endif
