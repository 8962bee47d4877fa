internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Runs the recipes of docs/simulator.md as they are on the page, with other ports and another folder.
@Suite(.timeLimit(.minutes(20)))
struct RecipeTests {
    private static let hasPython = Shell.succeeds("python3 -c 'import httpx, h2'")

    @Test(.enabled(if: Shell.hasTools, "needs curl with HTTP/2, openssl and xxd"))
    func `the curl recipe shows the goal on the lock screen`() async throws {
        try await ControlStage.with { stage in
            let output = try await Shell.run(Self.script("sh", stage))
            #expect(output.exitCode == 0, "\(output.text)")
            #expect(try await stage.shown("anna") == [["home": 1]], "\(output.text)")
            #expect(output.text.contains(#""operation":"broadcast""#))
            #expect(output.text.contains(#""lockScreens":[{"device":"anna""#))
        }
    }

    @Test(.enabled(if: hasPython, "needs Python's httpx[http2]"))
    func `the Python recipe shows the goal on the lock screen`() async throws {
        try await ControlStage.with { stage in
            let token = try stage.running.token()
            let script = "TOKEN=\(token) python3 - <<'END'\n\(try Self.script("python", stage))\nEND\n"
            let output = try await Shell.run(script)
            #expect(output.exitCode == 0, "\(output.text)")
            #expect(try await stage.shown("ben") == [["home": 1]])
        }
    }

    /// All code blocks in one language below "Recipes", with the addresses and files of a running simulator.
    private static func script(_ language: String, _ stage: ControlStage) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let page = try String(contentsOf: root.appending(path: "docs/simulator.md"), encoding: .utf8)
        let recipes = try #require(page.firstRange(of: "\n## Recipes\n").map { page[$0.upperBound...] })
        let blocks = recipes.split(separator: "```\(language)\n").dropFirst().map { block in
            block.prefix(upTo: block.firstRange(of: "\n```")?.lowerBound ?? block.endIndex)
        }
        try #require(!blocks.isEmpty)
        let addresses = stage.running.addresses
        let folder = URL(filePath: addresses.caFile).deletingLastPathComponent().path()
        return blocks.joined(separator: "\n")
            .replacing("https://127.0.0.1:8443", with: addresses.url(.development))
            .replacing("http://127.0.0.1:8442", with: stage.base)
            .replacing("apns/ca.pem", with: "\(folder)ca.pem")
            .replacing("apns/AuthKey", with: "\(folder)AuthKey")
    }
}
