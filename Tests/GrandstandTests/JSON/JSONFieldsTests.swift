internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON
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

    @Test(arguments: [
        "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T10:60:00Z", "2026-11-21T10:00:60Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-11-00T00:00:00Z", "2026-11-21T10:00:00+24:00", "2026-11-21T10:00:00+01:60", "2026-11-21T10:00:00",
        "2026-1-21T10:00:00Z", "2026-11-21", "",
    ])
    func `a day or time that there is not is refused, never carried on to the next`(text: String) throws {
        #expect(RFC3339.date(text) == nil)
        var fields = try fields(#"{"at": "\#(text)"}"#)
        #expect(fields.date("at") == nil)
        #expect { try fields.finish() } throws: { ($0 as? Problem)?.errors.map(\.pointer) == ["/at"] }
    }

    @Test(arguments: [
        "2028-02-29T00:00:00Z", "2000-02-29T23:59:59.999Z", "2026-04-30T12:00:00-09:30", "2026-12-31T23:59:59Z",
    ])
    func `the last day of a month is one`(text: String) { #expect(RFC3339.date(text) != nil) }

    @Test func `a number that no double holds is told as one`() throws {
        var fields = try fields(#"{"score": 1e400}"#)
        #expect(fields.number("score") == nil)
        #expect { try fields.finish() } throws: { error in
            (error as? Problem)?.errors.map(\.detail)
                == ["A number of at most 1.8e308 was expected; this one is beyond what a double holds."]
        }
    }

    @Test(arguments: [("5", 5), ("5.0", 5), ("5e0", 5), ("5.5", nil), ("1e300", nil)] as [(String, Int?)])
    func `a whole number is one however it is written`(text: String, number: Int?) throws {
        var fields = try fields(#"{"priority": \#(text), "n": \#(text)}"#)
        #expect(fields.integer("n", in: 1...10) == number)
        #expect(fields.priority()?.rawValue == number)
    }

    @Test func `the length of a text counts code points, in any language`() throws {
        // One character each, of two code points.
        let marked = String(repeating: "e\u{301}", count: 100)
        var fields = try fields(#"{"name": "\#(marked)", "long": "\#(marked)e", "emoji": "🏆 صباح 東京"}"#)
        #expect(fields.text("name") == marked)
        #expect(fields.text("long") == nil)
        #expect(fields.text("emoji", maximum: 9) == "🏆 صباح 東京")
        #expect { try fields.finish() } throws: { error in
            (error as? Problem)?.errors.map(\.detail)
                == ["A string of 1 to 200 characters was expected; this one has 201."]
        }
    }

    @Test(arguments: [
        ("2000-01-01T00:00:00+14:00", true), ("2099-12-31T23:59:59-12:00", true), ("1999-12-31T23:59:59-12:00", false),
        ("2100-01-01T00:00:00Z", false),
    ])
    func `a time is of the years 2000 to 2099`(text: String, isTaken: Bool) throws {
        var fields = try fields(#"{"at": "\#(text)"}"#)
        #expect((fields.date("at") != nil) == isTaken)
    }

    @Test func `control characters do not pass as text`() throws {
        var fields = try fields(#"{"name": "a\u0000b"}"#)
        #expect(fields.text("name") == nil)
        #expect { try fields.finish() } throws: { ($0 as? Problem)?.kind == .invalidRequest }
    }
}
