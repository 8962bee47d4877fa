internal import Foundation
internal import Testing

@testable internal import GrandstandServer

/// Compares the defaults of docs/settings.md, which `scripts/generate-settings` writes, with the server's.
struct SettingsPageTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    @Test func `the defaults on the page are the server's`() throws {
        var environment: [String: String] = [:]
        for row in try Self.rows() {
            guard let names = row.first.map(Self.words), row.count == 3, !row[2].contains("unset") else { continue }
            let values = Self.words(row[2])
            guard names.count == values.count else { continue }
            environment.merge(zip(names, values)) { $1 }
        }
        #expect(environment.count > 25)
        let (read, standard) = (try Configuration(environment: environment), try Configuration(environment: [:]))
        #expect(read.roles == standard.roles && read.endpoints == standard.endpoints)
        for (read, standard) in zip(Mirror(reflecting: read).children, Mirror(reflecting: standard).children)
        where !["roles", "endpoints"].contains(read.label) {
            #expect("\(read.value)" == "\(standard.value)", "\(read.label ?? "")")
        }
    }

    /// The cells of the rows of settings: names, meaning, default.
    private static func rows() throws -> [[Substring]] {
        let page = try String(contentsOf: root.appending(path: "docs/settings.md"), encoding: .utf8)
        let server = try #require(page.split(separator: "## The command line").first)
        return server.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.dropFirst(2).dropLast(2).split(separator: " | ", omittingEmptySubsequences: false)
        }
    }

    /// The words of a cell in backticks.
    private static func words(_ cell: Substring) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.output.1) }
    }
}
