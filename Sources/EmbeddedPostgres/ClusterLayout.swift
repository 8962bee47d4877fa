internal import Foundation

/// The paths of a cluster's files, and its connection string for libpq.
struct ClusterLayout: Sendable, Equatable {
    /// The socket's file name is part of a path the kernel keeps in a field of fixed length.
    #if canImport(Darwin)
        static let socketPathLimit = 103
    #else
        static let socketPathLimit = 107
    #endif
    static let database = "grandstand"
    static let user = "grandstand"
    private static let socketName = ".s.PGSQL.5432"

    let directory: String
    /// The folder of the Unix socket, 0700. Beside the data, unless that path is too long or has a comma (a list, to
    /// PostgreSQL): then a short one under the temporary folder, named by user and directory.
    let socketFolder: String

    /// `directory` is absolute and free of symbolic links, so that two spellings of one folder are one cluster.
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

    /// Names the socket; there is no TCP port.
    static let port = 5432

    /// A libpq keyword string.
    func connectionString(tcpPort: Int? = nil) -> String {
        if let tcpPort { return "host=127.0.0.1 port=\(tcpPort) user=\(Self.user) dbname=\(Self.database)" }
        // libpq's quoting: in single quotes, with a backslash before a quote or a backslash.
        let host = socketFolder.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "host='\(host)' port=\(Self.port) user=\(Self.user) dbname=\(Self.database)"
    }

    private static func holdsSocket(_ folder: String) -> Bool {
        "\(folder)/\(socketName)".utf8.count <= socketPathLimit && !folder.contains(",")
    }

    /// FNV-1a: Swift's own hashes differ from one process to the next.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
