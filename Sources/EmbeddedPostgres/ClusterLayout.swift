internal import Foundation

/// The paths of a cluster's files, and its connection string for libpq.
struct ClusterLayout: Sendable, Equatable {
    /// The kernel stores a socket's path in a field of fixed length.
    #if canImport(Darwin)
        static let socketPathLimit = 103
    #else
        static let socketPathLimit = 107
    #endif
    static let database = "grandstand"
    static let user = "grandstand"
    private static let socketName = ".s.PGSQL.5432"

    let directory: String
    /// The folder of the Unix socket, with the permissions 0700. Normally it is next to the data. If the path there is
    /// too long or has a comma (which PostgreSQL interprets as a list), the socket's folder is in the temporary folder
    /// instead, with a short name made from the user and the directory.
    let socketFolder: String

    /// `directory` is absolute and has no symbolic links, so that two paths to one folder are one cluster.
    init(directory: String, temporaryFolder: String = NSTemporaryDirectory(), userID: UInt32) {
        self.directory = directory
        let beside = "\(directory)/run"
        if Self.holdsSocket(beside) {
            socketFolder = beside
        } else {
            let name = "grandstand-\(userID)-\(String(Self.hash(directory), radix: 36))"
            let short = URL(fileURLWithPath: temporaryFolder).appendingPathComponent(name).path
            socketFolder = Self.holdsSocket(short) ? short : "/tmp/\(name)"
        }
    }

    var data: String { "\(directory)/postgres" }
    var lock: String { "\(directory)/postgres.lock" }
    var log: String { "\(directory)/postgres.log" }
    var previousLog: String { "\(directory)/postgres.log.1" }
    var version: String { "\(data)/PG_VERSION" }
    var postmasterFile: String { "\(data)/postmaster.pid" }

    /// The number in the socket's name. By default the server listens on no TCP port.
    static let port = 5432

    /// A connection string with keywords for libpq.
    func connectionString(tcpPort: Int? = nil) -> String {
        if let tcpPort { return "host=127.0.0.1 port=\(tcpPort) user=\(Self.user) dbname=\(Self.database)" }
        // libpq's quoting: single quotes, with a backslash before each quote and backslash.
        let host = socketFolder.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "host='\(host)' port=\(Self.port) user=\(Self.user) dbname=\(Self.database)"
    }

    private static func holdsSocket(_ folder: String) -> Bool {
        "\(folder)/\(socketName)".utf8.count <= socketPathLimit && !folder.contains(",")
    }

    /// FNV-1a, because Swift's own hashes differ between processes.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
