internal import Cryptography
internal import FoundationEssentials
package import GrandstandContract
internal import Synchronization

/// The key files of one folder. A file is read when it is first needed, and again when it changes.
package final class KeyRing: Sendable {
    private let directory: String

    private let entries = Mutex<[String: (key: Result<SigningKey, SigningKey.Fault>, stamp: FileStamp?)]>([:])

    /// - Parameter directory: the folder with the files `AuthKey_<KEYID>.p8`. It need not exist yet.
    package init(directory: String) { self.directory = directory }

    /// Whether the key file of `keyID` exists and contains a usable key.
    package func state(of keyID: String) -> Contract.CredentialState {
        switch key(keyID) {
        case .success: .ok
        case .failure(.missing): .missing
        case .failure(.unreadable): .unreadable
        }
    }

    /// The IDs of the key files in the folder, even of unusable ones.
    func keyIDs() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().compactMap { name in
            guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
            return String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
        }
    }

    /// A line for each existing key file that cannot be used.
    package func faults() -> [String] { keyIDs().compactMap(fault(of:)) }

    /// Why the key file of `keyID` cannot be used, in one line; `nil`: it can.
    func fault(of keyID: String) -> String? {
        guard case .failure(let fault) = key(keyID) else { return nil }
        return fault.description
    }

    /// Forgets the files that were read. Each file is read again when it is next needed.
    func forget() { entries.withLock { $0.removeAll() } }

    func key(_ keyID: String) -> Result<SigningKey, SigningKey.Fault> {
        let path = directory + "/AuthKey_\(keyID).p8"
        let stamp = FileStamp(path)
        return entries.withLock { entries in
            if let entry = entries[keyID], entry.stamp == stamp, stamp != nil { return entry.key }
            let key = Result { () throws(SigningKey.Fault) in try SigningKey(path: path) }
            entries[keyID] = (key, stamp)
            return key
        }
    }
}
