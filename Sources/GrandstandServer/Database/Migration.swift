internal import Cryptography
internal import FoundationEssentials
internal import GrandstandMigrations

/// One forward step of the schema. The SQL file is in migrations/.
package struct Migration: Sendable, Hashable {
    let version: Int
    /// The file's name without `.sql`.
    let name: String
    let sql: String
    /// The tables that the migration creates.
    let tables: [String]
    /// From the comment `-- least: 4` of a migration that takes something away: only builds that know migration 4 may
    /// still use the database.
    let least: Int

    init(version: Int, name: String, sql: String) {
        (self.version, self.name, self.sql) = (version, name, sql)
        let create = "create table "
        tables = sql.split(separator: "\n").filter { $0.hasPrefix(create) }.map {
            String($0.dropFirst(create.count).prefix { $0 == "_" || $0.isLetter })
        }
        least = sql.firstMatch(of: /(?m)^-- least: (\d+)$/).flatMap { Int($0.output.1) } ?? 1
    }

    /// The migrations this binary carries, oldest first, each equal to its file byte for byte.
    package static let all = MigrationFiles.all.enumerated().map { index, file in
        Migration(version: index + 1, name: file.name, sql: file.sql)
    }

    /// The statements of a migration that begins with the comment `-- no transaction`, to be run one by one; `nil`: it
    /// runs as one transaction. Indexes of tables with rows are built this way (`create index concurrently`), so that
    /// writes continue.
    var statements: [String]? {
        guard sql.hasPrefix("-- no transaction\n") else { return nil }
        return sql.split(separator: ";\n").map(String.init).filter { statement in
            statement.split(separator: "\n").contains { !$0.hasPrefix("--") && !$0.allSatisfy(\.isWhitespace) }
        }
    }

    /// SHA-256 of the text, in hexadecimal: an applied migration must never change.
    var checksum: String {
        SHA256.hash(Array(sql.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
