internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct JSONFieldsTests {
    private func fields(_ text: String) throws -> JSONFields { JSONFields(try JSONValue(parsing: Array(text.utf8))) }

    @Test("every fault is told at once, with its pointer")
    func collects() throws {
        var fields = try fields(#"{"name": 1, "limit": 99, "when": "noon", "extra": true}"#)
        #expect(fields.text("name", required: true) == nil)
        #expect(fields.integer("limit", in: 1...10) == nil)
        #expect(fields.date("when") == nil)
        #expect(fields.text("absent", required: true) == nil)
        #expect { try fields.finish() } throws: { error in
            guard let problem = error as? Problem else { return false }
            return problem.kind == .unknownField
                && Set(problem.errors.map(\.pointer)) == ["/name", "/limit", "/when", "/absent", "/extra"]
        }
    }

    @Test("null counts as absent")
    func null() throws {
        var fields = try fields(#"{"a": null}"#)
        #expect(fields.text("a") == nil)
        try fields.finish()
    }

    @Test("an unknown field of a nested object is found too, and its name is escaped in the pointer")
    func nested() throws {
        var fields = try fields(#"{"inner": {"a/b~c": 1}}"#)
        let inner = fields.fields("inner")
        fields.absorb(try #require(inner))
        #expect { try fields.finish() } throws: { error in
            (error as? Problem)?.errors.map(\.pointer) == ["/inner/a~1b~0c"]
        }
    }

    @Test(
        "times are read with any offset",
        arguments: [
            "2026-11-21T20:45:00Z", "2026-11-21T20:45:00.000Z", "2026-11-21T21:45:00+01:00",
        ])
    func dates(text: String) throws {
        var fields = try fields(#"{"at": "\#(text)"}"#)
        #expect(fields.date("at") == Date(timeIntervalSince1970: 1_795_293_900))
        try fields.finish()
    }

    @Test("control characters do not pass as text")
    func controlCharacters() throws {
        var fields = try fields(#"{"name": "a\u0000b"}"#)
        #expect(fields.text("name") == nil)
        #expect { try fields.finish() } throws: { ($0 as? Problem)?.kind == .invalidRequest }
    }
}
