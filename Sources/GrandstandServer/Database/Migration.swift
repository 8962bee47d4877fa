internal import Cryptography
internal import GrandstandMigrations

/// One forward step of the schema. The SQL file is in migrations/.
package struct Migration: Sendable, Hashable {
    let version: Int
    /// The file's name without `.sql`.
    let name: String
    let sql: String
    /// The tables that the migration creates.
    let newTables: [String]

    init(version: Int, name: String, sql: String) {
        (self.version, self.name, self.sql) = (version, name, sql)
        newTables = sql.matches(of: /(?m)^create table (\w+)/).map { String($0.output.1) }
    }

    /// From the comment `-- least: 4` of a migration that takes something away: only builds that know migration 4 may
    /// still use the database.
    var least: Int { sql.firstMatch(of: /(?m)^-- least: (\d+)$/).flatMap { Int($0.output.1) } ?? 1 }

    /// The migrations this binary carries, oldest first, each equal to its file byte for byte.
    package static let all = MigrationFiles.all.enumerated().map { index, file in
        Migration(version: index + 1, name: file.name, sql: file.sql)
    }

    /// SHA-256 of the text, in hexadecimal: an applied migration must never change.
    var checksum: String {
        SHA256.hash(Array(sql.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
