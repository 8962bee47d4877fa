internal import Foundation

/// The paths of a cluster's files, and its connection string for libpq.
struct ClusterLayout: Sendable, Equatable {
    /// The kernel stores a socket's path in a field of fixed length. On Linux it has four bytes more than on macOS.
    static let socketPathLimit = 103
    /// The name of the database and of its owner.
    static let databaseName = "grandstand"
    /// The number in the socket's name. By default the server listens on no TCP port.
    static let port = 5432

    let directory: String
    /// The folder of the Unix socket, with the permissions 0700. Normally it is next to the data. If the path there is
    /// too long or has a comma (which PostgreSQL interprets as a list), the socket's folder is in /tmp instead, with a
    /// short name made from the user and the directory.
    let socketFolder: String

    /// `directory` is absolute and has no symbolic links, so that two paths to one folder are one cluster.
    init(directory: String) {
        self.directory = directory
        let beside = "\(directory)/run"
        let isLong = "\(beside)/.s.PGSQL.\(Self.port)".utf8.count > Self.socketPathLimit
        // FNV-1a, because Swift's own hashes differ between processes.
        let hash = directory.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let short = "/tmp/grandstand-\(geteuid())-\(String(hash, radix: 36))"
        socketFolder = isLong || beside.contains(",") ? short : beside
    }

    var data: String { "\(directory)/postgres" }
    var lock: String { "\(directory)/postgres.lock" }
    var log: String { "\(directory)/postgres.log" }
    var postmasterFile: String { "\(data)/postmaster.pid" }
    /// The server's process ID. Other than `postmasterFile`, it is never that of an earlier server, because the folder is
    /// emptied before a start.
    var externalPIDFile: String { "\(socketFolder)/server.pid" }

    /// A connection string with keywords for libpq.
    func connectionString(tcpPort: Int? = nil) -> String {
        let login = "user=\(Self.databaseName) dbname=\(Self.databaseName)"
        if let tcpPort { return "host=127.0.0.1 port=\(tcpPort) \(login)" }
        // libpq's quoting: single quotes, with a backslash before each quote and backslash.
        let host = socketFolder.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "host='\(host)' port=\(Self.port) \(login)"
    }
}

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
    func dataVersion() throws(PostgresClusterError) -> String? {
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
    var pidText: String? { try? String(contentsOfFile: postmasterFile, encoding: .utf8) }
}

/// PostgreSQL's programs, and how they are started.
struct Programs: Sendable, Equatable {
    let folder: String
    /// The command that precedes a program, to run it under another account.
    var commandPrefix: [String] = []

    /// Runs a program to its end.
    func run(_ name: String, _ arguments: [String], input: String = "") async throws -> ProgramRun {
        try await ProgramRun.of(commandPrefix + ["\(folder)/\(name)"] + arguments, input: input)
    }

    /// The folders that are searched: `PATH`, then those of Debian and Homebrew with the highest version first.
    static func folders(path: String = ProcessInfo.processInfo.environment["PATH"] ?? "") -> [String] {
        var folders = path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        for place in ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            let newestFirst = names.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
            folders += newestFirst.map { "\(place)/\($0)/bin" }
        }
        return folders
    }

    /// All installations in order, without duplicates. A symbolic link to `postgres` is resolved, because the other
    /// programs are in the folder of its target.
    static func installed(in folders: [String]) -> [Programs] {
        var found: [Programs] = []
        for folder in folders {
            let postgres = URL(fileURLWithPath: "\(folder)/postgres").resolvingSymlinksInPath()
            let programs = Programs(folder: postgres.deletingLastPathComponent().path)
            let isComplete = ["postgres", "initdb", "pg_ctl"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: "\(programs.folder)/\($0)")
            }
            if isComplete, !found.contains(programs) { found.append(programs) }
        }
        return found
    }

    /// The programs for data of `version`. nil: there are no data yet, so the first installation is used.
    ///
    /// - Throws: `PostgresClusterError` if there is no installation, or none of this version.
    static func find(_ version: String?, in folders: [String], data: String) async throws -> Programs {
        let found = installed(in: folders)
        guard let first = found.first else {
            throw PostgresClusterError(
                description: "the embedded database needs PostgreSQL's programs (initdb, postgres): install them with "
                    + "`apt-get install postgresql` or `brew install postgresql`, or set DATABASE_URL")
        }
        guard let version else { return first }
        for programs in found {
            let run = try? await programs.run("postgres", ["--version"])
            if run.flatMap({ majorVersion(in: $0.output) }) == version { return programs }
        }
        let (debian, homebrew) = ("postgresql-\(version)", "postgresql@\(version)")
        throw PostgresClusterError(
            description: "\(data) was made by PostgreSQL \(version), whose programs are not installed: install them "
                + "(`apt-get install \(debian)` or `brew install \(homebrew)`), or choose another GRANDSTAND_DATA_DIR")
    }

    /// "postgres (PostgreSQL) 15.6 (Debian 15.6-1)" → "15"; "… 18beta1" → "18".
    static func majorVersion(in line: String) -> String? {
        line.firstMatch(of: /\(PostgreSQL\) ([0-9]+)/).map { String($0.1) }
    }
}

/// The result of a program that ran to its end.
struct ProgramRun: Sendable {
    /// The exit status, or the number of the signal that ended the program.
    let status: Int32
    /// Standard output and standard error, in the order written.
    let output: String

    /// Runs a program with `input` (a few lines) as its standard input. A serial queue has a thread of its own to wait
    /// for it. On Linux, the global queue shares its threads with Swift's tasks, and gets another one only once a second.
    ///
    /// - Throws: if the program cannot be started.
    static func of(_ command: [String], input: String = "") async throws -> ProgramRun {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "grandstand.program").async {
                continuation.resume(with: Result { try ProgramRun(command, input: input) })
            }
        }
    }

    private init(_ command: [String], input: String) throws {
        let (process, text, pipe) = (Process(command), Pipe(), Pipe())
        process.standardInput = text
        process.standardOutput = pipe
        process.standardError = pipe
        // Written before the start, because a write to a program that has already ended would end this process.
        try text.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try process.run()
        try text.fileHandleForWriting.close()
        output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        status = process.terminationStatus
    }
}

extension String {
    /// The line of an output that best explains a failure: the last error, or else the last line. The last line alone is
    /// often not the cause: after an error, PostgreSQL's programs also print hints and what they do next.
    var errorLine: String {
        let lines = split(whereSeparator: \.isNewline).filter { $0.contains { !$0.isWhitespace } }
        let words = ["error:", "FATAL:", "PANIC:"]
        let error = lines.last { line in words.contains { line.contains($0) } }
        return String(error ?? lines.last ?? "nothing")
    }
}

extension Process {
    /// A program that is not started yet. It has its own process group, so that Ctrl-C in a terminal does not reach it,
    /// and no open files of this process but its standard input and output.
    ///
    /// Only the paths to programs and libraries are passed on, because variables such as PGDATA and PGPORT are for other
    /// databases. Messages are in English, because they are parsed; times are in UTC.
    convenience init(_ command: [String]) {
        self.init()
        executableURL = URL(filePath: command[0])
        arguments = Array(command.dropFirst())
        // The program's account may have no access to our working directory, and must not keep it in use.
        currentDirectoryURL = URL(filePath: "/")
        let ours = ProcessInfo.processInfo.environment
        let path = "\(ours["PATH"] ?? ""):/usr/bin:/bin:/usr/sbin:/sbin"
        let kept = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"]
        environment = ours.filter { kept.contains($0.key) }
            .merging(["LC_ALL": "C", "TZ": "UTC", "PATH": path]) { $1 }
    }
}
