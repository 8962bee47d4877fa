internal import Foundation

/// `MigrationEmbedder <output.swift> <migration.sql>…`: writes the files' text into Swift source. The plugin
/// EmbedMigrations runs it whenever a migration has changed.
@main
struct MigrationEmbedder {
    static func main() {
        do {
            let paths = Array(CommandLine.arguments.dropFirst())
            guard let output = paths.first else {
                throw Fault("usage: MigrationEmbedder <output.swift> <migration.sql>…")
            }
            let elements = try paths.dropFirst().enumerated().map { index, path in
                try element(URL(filePath: path), version: index + 1)
            }
            let code = """
                extension MigrationFiles {
                    package static let all: [(name: String, sql: String)] = [
                \(elements.joined(separator: ",\n"))
                    ]
                }

                """
            try Data(code.utf8).write(to: URL(filePath: output))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    /// One migration as an element of the array.
    ///
    /// - Throws: `Fault` for an invalid name or text, which stops the build.
    private static func element(_ file: URL, version: Int) throws -> String {
        let name = file.deletingPathExtension().lastPathComponent
        guard name.wholeMatch(of: /[0-9]{4}_[a-z][a-z0-9_]*/) != nil else {
            throw Fault("\(file.path): error: call it NNNN_lower_case.sql")
        }
        guard Int(name.prefix(4)) == version else {
            throw Fault("\(file.path): error: version \(version) comes next, versions leave no gap")
        }
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        guard text.utf8.last == UInt8(ascii: "\n") else { throw Fault("\(file.path): error: end it with a newline") }
        guard !text.utf8.contains(UInt8(ascii: "\r")) else {
            throw Fault("\(file.path): error: use plain newlines, no carriage returns")
        }
        // Use more number signs than the text has in a row, so that the text cannot end the literal or contain an
        // escape.
        let longest = text.matches(of: /#+/).map(\.output.count).max() ?? 0
        let signs = String(repeating: "#", count: longest + 1)
        return "(\"\(name)\", \(signs)\"\"\"\n\(text)\n\"\"\"\(signs))"
    }
}

/// Why a migration cannot be embedded, in the format of compiler errors.
private struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
