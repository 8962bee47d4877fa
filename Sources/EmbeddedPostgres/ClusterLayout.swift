internal import Foundation

/// The paths of a cluster's files, and its connection string for libpq.
struct ClusterLayout: Sendable, Equatable {
    /// The kernel stores a socket's path in a field of fixed length. On Linux it has four bytes more than on macOS.
    static let socketPathLimit = 103
    /// The name of the database and of its owner.
    static let name = "grandstand"
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
    var processFile: String { "\(socketFolder)/server.pid" }

    /// A connection string with keywords for libpq.
    func connectionString(tcpPort: Int? = nil) -> String {
        let login = "user=\(Self.name) dbname=\(Self.name)"
        if let tcpPort { return "host=127.0.0.1 port=\(tcpPort) \(login)" }
        // libpq's quoting: single quotes, with a backslash before each quote and backslash.
        let host = socketFolder.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "host='\(host)' port=\(Self.port) \(login)"
    }
}
