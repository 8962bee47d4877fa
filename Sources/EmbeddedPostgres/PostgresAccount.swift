internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The account of the server if we are root, because PostgreSQL refuses root.
struct PostgresAccount: Sendable, Equatable {
    let name: String
    let userID: uid_t
    let groupID: gid_t

    /// The owner of the data, otherwise `postgres`, otherwise `nobody`. Nil if we are not root, because the server then
    /// has our account.
    ///
    /// - Throws: `PostgresClusterError` if the data belong to root or another account, or there is no such account.
    static func choose(layout: ClusterLayout) throws -> PostgresAccount? {
        let ours = geteuid()
        let owner = FileOwner(path: layout.data)
        if ours != 0 {
            if let owner, owner.userID != ours {
                throw refusal(layout, "it belongs to \(owner.name): run as that user")
            }
            return nil
        }
        if let owner {
            guard owner.userID != 0 else {
                throw refusal(layout, "it belongs to root, whom PostgreSQL refuses: remove it or give it to `postgres`")
            }
            return PostgresAccount(name: owner.name, userID: owner.userID, groupID: owner.groupID)
        }
        for name in ["postgres", "nobody"] {
            if let account = named(name) { return account }
        }
        throw PostgresClusterError(.cannotLeaveRoot(why: "there is neither a user `postgres` nor `nobody`"))
    }

    /// Makes this account the owner of a folder.
    func own(_ path: String) throws {
        guard chown(path, userID, groupID) == 0 else {
            throw SystemError(code: errno, call: "give \(path) to \(name)")
        }
    }

    private static func named(_ name: String) -> PostgresAccount? {
        var entry = passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &result) == 0, result != nil else { return nil }
        return PostgresAccount(name: name, userID: entry.pw_uid, groupID: entry.pw_gid)
    }

    private static func refusal(_ layout: ClusterLayout, _ why: String) -> PostgresClusterError {
        PostgresClusterError(.directoryUnusable(path: layout.data, why: why))
    }
}

/// The owner of a file; nil if there is no such file.
struct FileOwner {
    let userID: uid_t
    let groupID: gid_t
    let permissions: mode_t
    let isFolder: Bool

    init?(path: String) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        userID = facts.st_uid
        groupID = facts.st_gid
        permissions = facts.st_mode & 0o7777
        isFolder = facts.st_mode & S_IFMT == S_IFDIR
    }

    /// The account's name, or its number if it has none.
    var name: String {
        var entry = passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(userID, &entry, &buffer, buffer.count, &result) == 0, result != nil else {
            return "user \(userID)"
        }
        return String(cString: entry.pw_name)
    }
}
