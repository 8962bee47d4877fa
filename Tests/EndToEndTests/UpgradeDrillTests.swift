internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// `scripts/upgrade-drill`: a server of this build keeps running while a later release migrates the database, and is
/// then replaced without a gap.
@Suite(.timeLimit(.minutes(20)))
struct UpgradeDrillTests {
    private static let python = "/usr/bin/python3"

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: python)))
    func `a rolling upgrade past a migration that the build does not know loses nothing`() async throws {
        let script = URL(filePath: #filePath).appending(path: "../../../scripts/upgrade-drill").standardized
        let build = Bundle.main.bundleURL.appending(path: "grandstand")
        let output = try await Program.run(URL(filePath: Self.python), [script.path, "--rolling", build.path])
        #expect(output.exitCode == 0, "\(output.text)")
        #expect(output.text.contains("a migration that this build does not know"), "\(output.text)")
        #expect(output.text.contains("timestamps that went back: 0"), "\(output.text)")
    }
}
