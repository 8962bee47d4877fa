internal import Foundation

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
    static func locked<Value>(_ file: URL, _ body: () throws -> Value) throws -> Value {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let descriptor = open(file.path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(file) }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure(file) }
        }
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
