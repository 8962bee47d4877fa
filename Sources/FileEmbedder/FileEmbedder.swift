internal import Foundation

/// `FileEmbedder <output.swift> <file>…`: writes the files' texts into Swift source, as string literals. The compiler
/// needs minutes for the arrays of bytes that SwiftPM's own resources become. The plugin EmbedFiles runs this whenever
/// a file has changed.
@main
struct FileEmbedder {
    static func main() {
        do {
            let paths = Array(CommandLine.arguments.dropFirst())
            guard let output = paths.first else { throw Fault("usage: FileEmbedder <output.swift> <file>…") }
            let code = """
                enum EmbeddedFiles {
                    /// The texts by file name.
                    static let texts: [String: String] = [
                \(try paths.dropFirst().map { try element(URL(filePath: $0)) }.joined(separator: ",\n"))
                    ]
                }

                """
            try Data(code.utf8).write(to: URL(filePath: output))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    /// - Throws: `Fault` for a text that a literal cannot repeat byte for byte, which stops the build.
    private static func element(_ file: URL) throws -> String {
        guard let text = String(validating: try Data(contentsOf: file), as: UTF8.self), !text.utf8.contains(13) else {
            throw Fault("\(file.path): error: use UTF-8 and plain newlines, no carriage returns")
        }
        // Use more number signs than the text has in a row, so that the text cannot end the literal or contain an
        // escape.
        let longest = text.matches(of: /#+/).map(\.output.count).max() ?? 0
        let signs = String(repeating: "#", count: longest + 1)
        return "\"\(file.lastPathComponent)\": \(signs)\"\"\"\n\(text)\n\"\"\"\(signs)"
    }
}

/// Why a file cannot be embedded, in the format of compiler errors.
private struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
