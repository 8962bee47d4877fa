internal import Cryptography
internal import FoundationEssentials
internal import Grandstand
package import GrandstandContract
internal import Synchronization

/// The private key in one file `AuthKey_<KEYID>.p8`.
struct SigningKey: Sendable {
    let key: PrivateKey
    /// SHA-256 of the public key.
    let fingerprint: [UInt8]

    /// Why a key file cannot be used. It never contains text from the file.
    struct Fault: Error, CustomStringConvertible {
        let state: Contract.CredentialState
        let description: String
    }

    /// Reads a PEM file with an EC P-256 key, the format of Apple's keys, in any form of `KeyFileText`.
    init(path: String) throws(Fault) {
        guard FileManager.default.fileExists(atPath: path) else {
            let advice = "put the .p8 file from Apple's developer portal there"
            throw Fault(state: .missing, description: "there is no key file \(path): \(advice)")
        }
        do {
            guard let pem = FileManager.default.contents(atPath: path) else {
                throw KeyFileText.Fault("it is a folder, or its permissions forbid reading it")
            }
            let block = try KeyFileText(Array(pem)).pem
            guard (try? PrivateKey(pem: block)) != nil else {
                throw KeyFileText.Fault("its block has \(block.count) bytes, and its base64 is broken or without a key")
            }
            key = try PrivateKey.p256(pem: block)
            fingerprint = SHA256.hash(try key.publicPoint)
        } catch {
            let why = (error as? KeyFileText.Fault)?.words ?? "its key is of another kind"
            throw Fault(
                state: .unreadable,
                description: "the key file \(path) cannot be used: \(why). It needs an EC P-256 private key in PEM "
                    + "form, as in the .p8 from Apple's developer portal")
        }
    }
}

/// The key files of one folder. A file is read when it is first needed, and again when it changes.
package final class KeyRing: Sendable {
    private let directory: String

    private let entries = Mutex<[String: (key: Result<SigningKey, SigningKey.Fault>, stamp: FileStamp?)]>([:])

    /// - Parameter directory: the folder with the files `AuthKey_<KEYID>.p8`. It need not exist yet.
    package init(directory: String) { self.directory = directory }

    /// Whether the key file of `keyID` exists and contains a usable key.
    package func fileState(of keyID: String) -> Contract.CredentialState {
        if case .failure(let fault) = key(keyID) { fault.state } else { .ok }
    }

    /// The IDs of the key files in the folder, even of unusable ones.
    func keyIDs() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().compactMap { $0.wholeMatch(of: /AuthKey_(.*)\.p8/).map { String($0.1) } }
    }

    /// Why the key file of `keyID` cannot be used; `nil`: it can.
    func fault(of keyID: String) -> String? {
        if case .failure(let fault) = key(keyID) { fault.description } else { nil }
    }

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
