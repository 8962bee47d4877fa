internal import Crypto
internal import FoundationEssentials
internal import GrandstandMigrations

/// One forward step of the schema; its file stands in migrations/.
package struct Migration: Sendable, Hashable {
    package let version: Int
    /// The file's name without `.sql`.
    package let name: String
    package let sql: String

    package init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }

    /// The migrations this binary carries, oldest first, each equal to its file byte for byte.
    package static let all = MigrationFiles.all.enumerated().map { index, file in
        Migration(version: index + 1, name: file.name, sql: file.sql)
    }

    /// SHA-256 of the text, in hexadecimal: an applied migration must never change.
    package var checksum: String {
        SHA256.hash(data: Data(sql.utf8)).map { byte in
            let hex = String(byte, radix: 16)
            return hex.count == 1 ? "0" + hex : hex
        }.joined()
    }
}
