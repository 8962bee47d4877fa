import Foundation
import PackagePlugin

/// Compiles the texts among a target's files into the program, so that the program needs no other files.
@main
struct EmbedFiles: BuildToolPlugin {
    private static let kinds: Set = ["css", "js", "json", "md", "mustache", "sql", "yaml"]

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: target.directoryURL.path)
        let files = paths.sorted().map { target.directoryURL.appending(path: $0) }
            .filter { Self.kinds.contains($0.pathExtension) }
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding \(files.count) files of \(target.name)",
                executable: try context.tool(named: "FileEmbedder").url,
                arguments: [output.path] + files.map(\.path), inputFiles: files, outputFiles: [output])
        ]
    }
}
