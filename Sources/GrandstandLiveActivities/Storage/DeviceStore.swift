package import Foundation
package import GrandstandClient

/// What an installation keeps on the device: its record in a file, and its identity in the keychain. Every change is
/// made under a lock, and first reads what is stored. So two processes of an app never use the same sequence, never
/// overwrite each other's changes, and have one identity.
package struct DeviceStore: Sendable {
    private let file: URL
    private let vault: any Vault
    private let app: GrandstandClient.AppEnvironment

    package init(file: URL, vault: any Vault, app: GrandstandClient.AppEnvironment) {
        self.file = file
        self.vault = vault
        self.app = app
    }

    /// Changes the record.
    ///
    /// - Parameter unwritten: the record after an earlier change that could not be written. This record replaces the
    ///   file's content.
    /// - Returns: `failure` says why the record was not written, e.g. because the disk is full; `nil`: it was written.
    /// - Throws: an error if the record cannot be read; the errors of `body`.
    package func change<Value>(
        after unwritten: DeviceRecord? = nil, _ body: (inout DeviceRecord) throws -> Value
    ) throws -> (record: DeviceRecord, value: Value, failure: String?) {
        try LockedFile.locked(file) {
            let old = try load()
            var record = unwritten ?? old ?? DeviceRecord()
            let value = try body(&record)
            guard record != old else { return (record, value, nil) }
            do {
                try LockedFile.replace(file, with: JSONEncoder().encode(record))
                return (record, value, nil)
            } catch {
                return (record, value, "\(error)")
            }
        }
    }

    /// A file that is not a record is moved aside. The lost sequence does no harm: the server's answer to the first
    /// request says which sequence to continue from.
    private func load() throws -> DeviceRecord? {
        guard let data = try LockedFile.read(file) else { return nil }
        if let record = try? JSONDecoder().decode(DeviceRecord.self, from: data) { return record }
        let aside = file.appendingPathExtension("unreadable")
        try? FileManager.default.removeItem(at: aside)
        try FileManager.default.moveItem(at: file, to: aside)
        return nil
    }

    /// The identity of the installation. If there is none yet, it is drawn and stored.
    ///
    /// - Parameter refused: an identity that the server refused. It is replaced, unless another process was faster.
    /// - Throws: if it is unknown whether there is an identity, as before the first unlock after a restart. No new
    ///   identity is drawn then, because the phone would become another installation.
    package func identity(insteadOf refused: InstallationIdentity? = nil) throws -> InstallationIdentity {
        try LockedFile.locked(file) {
            let data = try vault.read() ?? Data()
            let kept = try? JSONDecoder().decode(InstallationIdentity.self, from: data)
            if let kept, kept != refused { return kept }
            let new = InstallationIdentity(new: app)
            try vault.write(JSONEncoder().encode(new))
            return new
        }
    }

    /// Deletes the identity.
    package func removeIdentity() throws { try LockedFile.locked(file) { try vault.write(nil) } }
}

/// A safe place for an installation's identity: the keychain, or a stand-in in tests.
package protocol Vault: Sendable {
    /// - Returns: `nil` if nothing is stored.
    /// - Throws: if it is unknown whether something is stored.
    func read() throws -> Data?
    /// Replaces what is stored; `nil` deletes it.
    func write(_ data: Data?) throws
}
