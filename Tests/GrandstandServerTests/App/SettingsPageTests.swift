internal import Foundation
internal import Testing

/// Compares docs/settings.md with the code that reads the settings.
struct SettingsPageTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    @Test func `the settings page names every variable that the server reads, and no other`() throws {
        let code = try ["Configuration", "Variables"].map { try Self.text("Sources/GrandstandServer/App/\($0).swift") }
            .joined()
        let page = try Self.text("docs/settings.md")
        let read = Set(code.matches(of: /"((?:GRANDSTAND|DATABASE|HTTPS)_[A-Z_]+)"/).map { String($0.output.1) })
        let server = try #require(page.split(separator: "## The command line").first)
        let documented = Set(
            server.matches(of: /`((?:GRANDSTAND|DATABASE|HTTPS)_[A-Z_]+)`/).map { String($0.output.1) })
        #expect(read.count > 40)
        #expect(documented == read)
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
