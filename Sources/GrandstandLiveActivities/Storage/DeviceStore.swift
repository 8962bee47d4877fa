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
        try LockedFile.withLock(file) {
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
        try LockedFile.withLock(file) {
            let data = try vault.read() ?? Data()
            let kept = try? JSONDecoder().decode(InstallationIdentity.self, from: data)
            if let kept, kept != refused { return kept }
            let new = InstallationIdentity(new: app)
            try vault.write(JSONEncoder().encode(new))
            return new
        }
    }

    /// Deletes the identity.
    package func removeIdentity() throws { try LockedFile.withLock(file) { try vault.write(nil) } }
}

/// A safe place for an installation's identity: the keychain, or a stand-in in tests.
package protocol Vault: Sendable {
    /// - Returns: `nil` if nothing is stored.
    /// - Throws: if it is unknown whether something is stored.
    func read() throws -> Data?
    /// Replaces what is stored; `nil` deletes it.
    func write(_ data: Data?) throws
}

/// Files that several processes of an app may change. Each file is complete at any time.
enum LockedFile {
    /// The content; `nil` if there is no file.
    ///
    /// - Throws: if the file cannot be read, for example because the system protects it until the first unlock.
    static func read(_ file: URL) throws -> Data? {
        do {
            return try Data(contentsOf: file)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        }
    }

    /// Runs `body` with an exclusive lock on the file. `body` must not suspend, because iOS ends an app that is
    /// suspended while it has a lock on a shared file.
    static func withLock<Value>(_ file: URL, _ body: () throws -> Value) throws -> Value {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let descriptor = open(file.path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(file) }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 { guard errno == EINTR else { throw failure(file) } }
        return try body()
    }

    /// Replaces the content. After a crash the file has either the old or the new content. Only the owner can read it.
    static func replace(_ file: URL, with data: Data) throws {
        let new = file.appendingPathExtension("new")
        let descriptor = open(new.path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(file) }
        defer { close(descriptor) }
        #if os(iOS)
            try FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: new.path)
        #endif
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        try handle.write(contentsOf: data)
        guard fsync(descriptor) == 0, rename(new.path, file.path) == 0 else { throw failure(file) }
    }

    private static func failure(_ file: URL) -> StorageFailure {
        StorageFailure(description: "\(file.lastPathComponent): \(String(cString: strerror(errno)))")
    }
}

/// A file or the keychain could not be read or written.
struct StorageFailure: Error, CustomStringConvertible { let description: String }
