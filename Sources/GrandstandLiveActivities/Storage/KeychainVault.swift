#if canImport(Security)
    internal import Foundation
    internal import Security

    /// An item in the keychain of this device. A backup does not copy it to another phone, so the other phone becomes
    /// another installation. It survives the removal of the app, so a reinstalled app is the same installation.
    ///
    /// Because pushes launch apps in the background, the item can be read while the phone is locked, if the phone was
    /// unlocked once since its restart.
    struct KeychainVault: Vault {
        /// The app and its environment, as the account's name.
        let account: String

        private var item: [String: Any] {
            [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: "grandstand.installation",
                kSecAttrAccount as String: account,
            ]
        }

        func read() throws -> Data? {
            var query = item
            query[kSecReturnData as String] = true
            var found: CFTypeRef?
            try Self.check(SecItemCopyMatching(query as CFDictionary, &found))
            return found as? Data
        }

        func write(_ data: Data?) throws {
            try Self.check(SecItemDelete(item as CFDictionary))
            guard let data else { return }
            var new = item
            new[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            new[kSecValueData as String] = data
            try Self.check(SecItemAdd(new as CFDictionary, nil))
        }

        private static func check(_ status: OSStatus) throws {
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw StorageFailure(description: "the keychain answered \(status)")
            }
        }
    }
#endif
