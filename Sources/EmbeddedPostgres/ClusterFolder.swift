internal import Foundation

/// What is on the disk.
extension ClusterLayout {
    /// Creates the directory if it does not exist.
    ///
    /// If root creates it, other accounts may enter but not list it, because the server's account must reach its data.
    static func make(_ directory: String) throws(PostgresClusterError) -> ClusterLayout {
        let url = URL(fileURLWithPath: directory).standardizedFileURL
        let parent = url.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        } catch {
            let hint = "check its permissions, or choose another GRANDSTAND_DATA_DIR"
            throw .unusable(url.path, "its parent folder \(parent.path) cannot be created; \(hint)")
        }
        let mode: mode_t = geteuid() == 0 ? 0o711 : 0o700
        try ClusterLayout(directory: url.path).makeFolder(url.path, mode)
        return ClusterLayout(directory: url.resolvingSymlinksInPath().path)
    }

    /// Creates a folder with these permissions, independent of the umask. An existing one stays as it is.
    ///
    /// - Parameter owner: `nil`: our account.
    func makeFolder(_ path: String, _ mode: mode_t, owner: ServerAccount? = nil) throws(PostgresClusterError) {
        let result = mkdir(path, mode)
        if result != 0, errno == EEXIST { return }
        try check(result == 0 ? chmod(path, mode) : result, "make the folder \(path)")
        if let owner { try check(chown(path, owner.user, owner.group), "give \(path) to \(owner.name)") }
    }

    /// Opens a file, which is created if it does not exist. Only its owner can access it.
    func open(_ path: String, _ flags: Int32) throws(PostgresClusterError) -> FileHandle {
        let file = Foundation.open(path, flags | O_CREAT | O_CLOEXEC, 0o600)
        try check(file, "open \(path)")
        return FileHandle(fileDescriptor: file, closeOnDealloc: true)
    }

    /// Refuses the directory if a call of the system failed.
    func check(_ result: Int32, _ action: String) throws(PostgresClusterError) {
        let why = String(cString: strerror(errno))
        if result < 0 { throw .unusable(directory, "cannot \(action): \(why)") }
    }

    /// The major version of PostgreSQL that created the data; nil: there are no data.
    ///
    /// - Throws: if the folder for the data has other files.
    func version() throws(PostgresClusterError) -> String? {
        let version = try? String(contentsOfFile: "\(data)/PG_VERSION", encoding: .utf8)
        if let version = version?.split(separator: "\n").first { return String(version) }
        let names = try? FileManager.default.contentsOfDirectory(atPath: data)
        guard names?.isEmpty == false else { return nil }
        throw .unusable(data, "it contains files that are not PostgreSQL's; choose another GRANDSTAND_DATA_DIR")
    }

    /// Creates the folder of the socket. An account that can enter it can do everything in the database, so an existing
    /// folder is used only if it certainly belongs to us: another user may have created it in /tmp.
    func makeSocketFolder(owner: ServerAccount?) throws(PostgresClusterError) {
        try makeFolder(socketFolder, 0o700, owner: owner)
        var found = stat()
        let isOurs = lstat(socketFolder, &found) == 0 && found.st_uid == owner?.user ?? geteuid()
        if isOurs, found.st_mode == S_IFDIR | 0o700 { return }
        throw .unusable(directory, "its socket folder \(socketFolder) is not private: remove it")
    }

    /// Takes the lock that allows one process per directory, and writes our process ID there for other processes. The
    /// system releases it when the process ends in any way.
    ///
    /// - Throws: if another process has the lock, or the file system does not support locks.
    func takeLock() throws(PostgresClusterError) -> FileHandle {
        let file = try open(lock, O_RDWR)
        let result = flock(file.fileDescriptor, LOCK_EX | LOCK_NB)
        if result != 0, errno == EWOULDBLOCK {
            let holder = try? String(contentsOfFile: lock, encoding: .utf8)
            throw .held(directory, by: holder?.dropLast() ?? "")
        }
        try check(result, "lock \(lock)")
        try? "\(getpid())\n".write(toFile: lock, atomically: false, encoding: .utf8)
        return file
    }

    /// The file of a running server: a line each for process ID, data, start time, port, socket folder, address, shared
    /// memory, and "ready" if the server accepts connections. A server that was killed leaves it behind.
    var serverFile: String? { try? String(contentsOfFile: postmasterFile, encoding: .utf8) }
}
