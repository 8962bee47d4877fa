/// The SQL files of this folder as a module.
package enum MigrationFiles {
    /// Names without `.sql`, and texts, in order of their numbers.
    package static let all = EmbeddedFiles.texts.sorted { $0.key < $1.key }.map { file, text in
        (name: String(file.dropLast(".sql".count)), sql: text)
    }
}
