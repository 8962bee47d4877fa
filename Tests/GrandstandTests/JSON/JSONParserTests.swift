internal import Grandstand
internal import JSON
internal import Testing

struct JSONParserTests {
    private func parse(_ text: String) throws(Problem) -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test func `a fault names its place, and a name may occur only once in an object`() {
        let twice = #expect(throws: Problem.self) { try parse("{\"a\":1, \"a\":2}") }
        #expect(
            twice?.kind == .malformedJson
                && twice?.detail == "The member name \"a\" occurs twice in one object (line 1, column 9).")
        let fault = #expect(throws: Problem.self) { try parse("{\"a\": {\"b\": [1, x]}}") }
        #expect(fault?.errors.first?.pointer == "/a/b/1" && fault?.detail.contains("line 1, column 17") == true)
    }
}
