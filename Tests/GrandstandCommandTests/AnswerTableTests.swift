internal import Grandstand
internal import JSON
internal import Testing

@testable internal import GrandstandCommand

/// What the command line prints of other people's texts.
struct AnswerTableTests {
    @Test func `control characters in an answer are escaped`() throws {
        let answer = try JSONValue(parsing: Array(#"{"items": [{"name": "a\u001b[2J\nb"}]}"#.utf8))
        #expect(AnswerTable(answer, columns: ["name"]).text == "name\n" + #"a\u001b[2J\u000ab"#)
    }
}
