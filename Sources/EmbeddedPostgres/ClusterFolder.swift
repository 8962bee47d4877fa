internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The folders a cluster lives in.
enum ClusterFolder {
    /// Makes the directory when it is missing, and returns its one true path.
    ///
    /// Made by root it can be passed through, but not listed: the server's account has to reach its data.
    static func make(_ directory: String) throws -> String {
        let path = URL(fileURLWithPath: directory).standardizedFileURL.path
        if FileOwner(path: path) == nil {
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
            do {
                try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            } catch {
                throw PostgresClusterError(.directoryUnusable(path: path, why: "\(parent) cannot be made"))
            }
            try make(path, permissions: geteuid() == 0 ? 0o711 : 0o700)
        }
        guard let resolved = realpath(path, nil) else { throw SystemError(code: errno, call: "enter \(path)") }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Makes one folder with these permissions, whatever the umask is.
    static func make(_ path: String, permissions: mode_t) throws {
        guard mkdir(path, permissions) == 0, chmod(path, permissions) == 0 else {
            throw SystemError(code: errno, call: "make the folder \(path)")
        }
    }

    /// The major version the data was made by, nil when there is no data.
    ///
    /// - Throws: `PostgresClusterError` when something else is in its place.
    static func version(_ layout: ClusterLayout) throws -> String? {
        let version = try? String(contentsOfFile: layout.version, encoding: .utf8)
        if let version = version?.trimmingCharacters(in: .whitespacesAndNewlines), !version.isEmpty { return version }
        guard FileOwner(path: layout.data) != nil else { return nil }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: layout.data)
        } catch {
            throw PostgresClusterError(.directoryUnusable(path: layout.data, why: "it is there and cannot be read"))
        }
        guard names.isEmpty else {
            throw PostgresClusterError(.directoryUnusable(path: layout.data, why: "it has files, but not PostgreSQL's"))
        }
        return nil
    }
}

/// The folder of the socket: an account that can enter it can do everything in the database.
struct SocketFolder: Sendable {
    let layout: ClusterLayout

    /// Makes it, or takes it as it is when it can only be ours: under a temporary folder another user could have been first.
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

    /// Removes the sockets of servers that are no more; one with a process number that lives again would stop the start.
    func clear() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: layout.socketFolder) {
            unlink("\(layout.socketFolder)/\(name)")
        }
    }

    func remove() {
        rmdir(layout.socketFolder)
    }
}
