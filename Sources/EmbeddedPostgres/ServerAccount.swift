internal import Foundation

/// The account of the server if this process is root, because PostgreSQL refuses root.
struct ServerAccount: Sendable {
    let name: String
    let user: uid_t
    let group: gid_t

    /// The owner of the data, otherwise `postgres`, which Debian's package creates, otherwise `nobody`. Nil if this
    /// process is not root, because the server then has our account.
    ///
    /// - Throws: `PostgresClusterError` if the data belong to root or another account, or there is no such account.
    static func choose(for data: String) throws(PostgresClusterError) -> ServerAccount? {
        let isRoot = geteuid() == 0
        var owner = stat()
        guard lstat(data, &owner) == 0 else { return try isRoot ? standard() : nil }
        let attributes = try? FileManager.default.attributesOfItem(atPath: data)
        let name = attributes?[.ownerAccountName] as? String ?? "user \(owner.st_uid)"
        switch owner.st_uid {
        case 0 where isRoot:
            throw .unusable(data, "it belongs to root, whom PostgreSQL refuses: remove it or give it to `postgres`")
        case _ where isRoot: return ServerAccount(name: name, user: owner.st_uid, group: owner.st_gid)
        case geteuid(): return nil
        default: throw .unusable(data, "it belongs to \(name): run as that user")
        }
    }

    private static func standard() throws(PostgresClusterError) -> ServerAccount {
        for name in ["postgres", "nobody"] {
            var (entry, buffer) = (passwd(), [CChar](repeating: 0, count: 16 << 10))
            var found: UnsafeMutablePointer<passwd>?
            if getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil {
                return ServerAccount(name: name, user: entry.pw_uid, group: entry.pw_gid)
            }
        }
        throw .cannotLeaveRoot("there is neither a user `postgres` nor `nobody`")
    }

    /// The command that runs a program under this account, if the program can then enter `folders`.
    ///
    /// It is `setpriv`, of Debian's essential package util-linux: it replaces itself with the program, while `runuser`
    /// and `su` stay as its parent and open a PAM session, and it needs no name for the owner of the data. If folders
    /// are closed to the account (0700, owned by root), and only then, the program gets one capability: to search and
    /// read regardless of permissions. It may not write more than before. No permissions are changed.
    ///
    /// - Throws: `PostgresClusterError` that names the closed folder, or the reason why the account cannot be changed.
    func prefix(entering folders: [String]) async throws -> [String] {
        let setpriv = "/usr/bin/setpriv"
        guard access(setpriv, X_OK) == 0 else {
            let advice = "there is no `\(setpriv)` (Debian: apt-get install util-linux)"
            throw PostgresClusterError.cannotLeaveRoot(advice)
        }
        let plain = [setpriv, "--reuid=\(user)", "--regid=\(group)", "--clear-groups"]
        let searching = plain + ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
        let probe = ["--", "/bin/sh", "-c", Self.probe, "sh"] + folders
        let refusal = try await ProgramRun.of(plain + probe)
        if refusal.status == 0 { return plain + ["--"] }
        let why = refusal.output.complaint
        guard refusal.status == 77 else { throw PostgresClusterError.cannotLeaveRoot(why) }
        if try await ProgramRun.of(searching + probe).status == 0 { return searching + ["--"] }
        throw PostgresClusterError.unusable(
            folders[0],
            "the user `\(name)`, as which PostgreSQL runs, may not enter \(why): "
                + "open it (chmod o+x) or choose another GRANDSTAND_DATA_DIR")
    }

    /// Prints the first closed folder on the way to its arguments, and ends with a status that `setpriv` does not use.
    private static let probe = #"""
        set -f; IFS=/
        for path; do
            cd /
            for name in $path; do cd "./$name" 2>/dev/null || { echo "${PWD%/}/$name"; exit 77; }; done
        done
        """#
}
