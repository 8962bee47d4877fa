internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// The manual page that the package carries.
@Suite(.timeLimit(.minutes(20)))
struct ManualTests {
    @Test func `the manual page describes every command of the program`() async throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        let program = Bundle.main.bundleURL.appending(path: "grandstand")
        let manual = try await Program.run(root.appending(path: "scripts/manual"), [program.path, "1.2.3"])
        #expect(manual.exitCode == 0, "\(manual.text)")
        #expect(manual.text.contains("Grandstand 1.2.3") && !manual.text.contains("@VERBS@"))
        let verbs = try await Program.run(program, ["help"]).text.matches(of: /(?m)^  ([a-z]+) +[A-Z]/).map {
            String($0.output.1)
        }
        #expect(verbs.count > 20)
        for verb in verbs { #expect(manual.text.contains(".B \(verb)\n"), "\(verb)") }
    }
}
