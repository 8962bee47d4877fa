internal import ArgumentParser
internal import Grandstand
internal import JSON
internal import Testing

@testable internal import GrandstandCommand

/// What the command line prints of other people's texts.
struct AnswerTableTests {
    @Test func `control characters in an answer are escaped, and a key's name has none`() throws {
        let answer = try JSONValue(parsing: Array(#"{"items": [{"name": "a\u001b[2J\nb"}]}"#.utf8))
        #expect(AnswerTable(answer, columns: ["name"]).text == "name\n" + #"a\u001b[2J\u000ab"#)
        #expect(throws: (any Error).self) {
            try KeysCommand.Create.parse(["--name", "a\u{1B}[2Jb", "--scope", "lookup"])
        }
    }
}
