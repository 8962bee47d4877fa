internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct JSONFieldsTests {
    private func fields(_ text: String) throws -> JSONFields { JSONFields(try JSONValue(parsing: Array(text.utf8))) }

    @Test(arguments: ["50.520", "00.471", "07.007", "59.999", "00.000"])
    func `a time is written as it was read`(seconds: String) throws {
        let text = "2027-01-01T00:00:\(seconds)Z"
        #expect(RFC3339.text(try #require(RFC3339.date(text))) == text)
    }

    @Test func `every fault is told at once, with its pointer`() throws {
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

    @Test func `null counts as absent`() throws {
        var fields = try fields(#"{"a": null}"#)
        #expect(fields.text("a") == nil)
        try fields.finish()
    }

    @Test func `an unknown field of a nested object is found too, and its name is escaped in the pointer`() throws {
        var fields = try fields(#"{"inner": {"a/b~c": 1}}"#)
        let inner = fields.fields("inner")
        fields.absorb(try #require(inner))
        #expect { try fields.finish() } throws: { error in
            (error as? Problem)?.errors.map(\.pointer) == ["/inner/a~1b~0c"]
        }
    }

    @Test func `of many faults the first are told, and how many more there are`() throws {
        let names = (0..<1_000).map { #""f\#($0)": 1"# }.joined(separator: ",")
        var fields = try fields("{\(names)}")
        fields.fault("f0", "It is wrong, too.")
        var outer = try self.fields(#"{"g": 1}"#)
        outer.absorb(fields)
        #expect { try outer.finish() } throws: { error in
            guard let problem = error as? Problem else { return false }
            // 1,001 unknown ones and the fault, less those that are told.
            return problem.kind == .unknownField && problem.errors.count == FaultList.limit
                && problem.errors.first?.pointer == "/f0"
                && problem.detail.hasSuffix(" 952 more places are wrong and not listed.")
        }
        let list = (0..<60).map { FieldError(pointer: "/\($0)", detail: "Wrong.") }
        #expect(Problem(.invalidRequest, "No.", errors: list).errors.count == FaultList.limit)
    }

    @Test(arguments: [
        "2026-11-21T20:45:00Z", "2026-11-21T20:45:00.000Z", "2026-11-21T21:45:00+01:00",
    ])
    func `times are read with any offset`(text: String) throws {
        var fields = try fields(#"{"at": "\#(text)"}"#)
        #expect(fields.date("at") == Date(timeIntervalSince1970: 1_795_293_900))
        try fields.finish()
    }

    @Test func `control characters do not pass as text`() throws {
        var fields = try fields(#"{"name": "a\u0000b"}"#)
        #expect(fields.text("name") == nil)
        #expect { try fields.finish() } throws: { ($0 as? Problem)?.kind == .invalidRequest }
    }
}
