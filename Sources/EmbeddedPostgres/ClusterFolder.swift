internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The folders of a cluster.
enum ClusterFolder {
    /// Creates the directory if it does not exist, and returns its path without symbolic links.
    ///
    /// If root creates it, other accounts may enter but not list it, because the server's account must reach its data.
    static func make(_ directory: String) throws -> String {
        let path = URL(fileURLWithPath: directory).standardizedFileURL.path
        if FileOwner(path: path) == nil {
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
            do {
                try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            } catch {
                throw PostgresClusterError(
                    .directoryUnusable(
                        path: path,
                        why:
                            "its parent folder \(parent) cannot be created; check its permissions, or choose "
                            + "another GRANDSTAND_DATA_DIR"
                    ))
            }
            try make(path, permissions: geteuid() == 0 ? 0o711 : 0o700)
        }
        guard let resolved = realpath(path, nil) else { throw SystemError(code: errno, call: "enter \(path)") }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Creates a folder with these permissions, independent of the umask.
    static func make(_ path: String, permissions: mode_t) throws {
        guard mkdir(path, permissions) == 0, chmod(path, permissions) == 0 else {
            throw SystemError(code: errno, call: "make the folder \(path)")
        }
    }

    /// The major version of PostgreSQL that created the data; nil: there are no data.
    ///
    /// - Throws: `PostgresClusterError` if the folder for the data has other files, or cannot be read.
    static func version(_ layout: ClusterLayout) throws -> String? {
        let version = try? String(contentsOfFile: layout.version, encoding: .utf8)
        if let version = version?.trimmingCharacters(in: .whitespacesAndNewlines), !version.isEmpty { return version }
        guard FileOwner(path: layout.data) != nil else { return nil }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: layout.data)
        } catch {
            throw PostgresClusterError(
                .directoryUnusable(path: layout.data, why: "it exists but cannot be read; check its permissions"))
        }
        guard names.isEmpty else {
            throw PostgresClusterError(
                .directoryUnusable(
                    path: layout.data,
                    why: "it contains files that are not PostgreSQL's; choose another GRANDSTAND_DATA_DIR"))
        }
        return nil
    }
}

/// The folder of the socket. An account that can enter it can do everything in the database.
struct SocketFolder: Sendable {
    let layout: ClusterLayout

    /// Creates the folder. An existing folder is used only if it certainly belongs to us. The path may be in a folder
    /// for temporary files, where another user could have created it.
    func make(for account: PostgresAccount?) throws {
        let path = layout.socketFolder
        let owner = account?.userID ?? geteuid()
        if FileOwner(path: path) == nil {
            try ClusterFolder.make(path, permissions: 0o700)
            try account?.own(path)
        }
        guard let found = FileOwner(path: path), found.isFolder, found.userID == owner, found.permissions == 0o700
        else {
            throw PostgresClusterError(
                .directoryUnusable(path: layout.directory, why: "its socket folder \(path) is not private: remove it"))
        }
    }

    /// Removes the sockets and lock files of servers that have ended. If the process ID in a lock file belonged to
    /// another process now, PostgreSQL would refuse to start.
    func clear() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: layout.socketFolder) {
            unlink("\(layout.socketFolder)/\(name)")
        }
    }

    func remove() {
        rmdir(layout.socketFolder)
    }
}
