internal import FoundationEssentials
package import Grandstand
internal import Synchronization

/// The key files of one folder, read when they are first needed and again when a file changes.
package final class KeyRing: Sendable {
    private let directory: String

    private struct Entry {
        var key: Result<SigningKey, SigningKey.Fault>
        var modifiedAt: Date?
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameter directory: holds `AuthKey_<KEYID>.p8` files; it need not exist yet.
    package init(directory: String) { self.directory = directory }

    /// Whether the file of `keyID` can sign.
    package func state(of keyID: String) -> KeyFileState {
        switch key(keyID) {
        case .success: .ok
        case .failure(.missing): .missing
        case .failure(.unreadable): .unreadable
        }
    }

    /// The ids of the key files that are in the folder, whatever is in them.
    package func keyIDs() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().compactMap { name in
            guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
            return String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
        }
    }

    /// One line for each key file of the folder that is there and cannot be used, so that a start can refuse.
    package func faults() -> [String] {
        keyIDs().compactMap { keyID in
            guard case .failure(let fault) = key(keyID) else { return nil }
            return fault.description
        }
    }

    /// Reads every file anew when it is needed next, whatever its date.
    func forget() { entries.withLock { $0.removeAll() } }

    func key(_ keyID: String) -> Result<SigningKey, SigningKey.Fault> {
        let path = directory + "/AuthKey_\(keyID).p8"
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let modifiedAt = attributes?[.modificationDate] as? Date
        return entries.withLock { entries in
            if let entry = entries[keyID], entry.modifiedAt == modifiedAt, modifiedAt != nil { return entry.key }
            let key = Result { () throws(SigningKey.Fault) in try SigningKey(path: path) }
            entries[keyID] = Entry(key: key, modifiedAt: modifiedAt)
            return key
        }
    }
}
