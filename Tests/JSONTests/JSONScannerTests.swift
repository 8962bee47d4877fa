internal import JSON
internal import Testing

struct JSONScannerTests {
    /// Scans a text twice, once reading its strings and numbers, and once skipping everything. The results must agree.
    private func faults(_ text: [UInt8], maximumDepth: Int = 64, maximumValues: Int = .max) -> [JSONFault?] {
        func read(_ value: (inout JSONScanner) throws(JSONFault) -> Void) -> JSONFault? {
            do throws(JSONFault) {
                var scanner = try JSONScanner(text, maximumDepth: maximumDepth, maximumValues: maximumValues)
                try value(&scanner)
                try scanner.finish()
                return nil
            } catch {
                return error
            }
        }
        return [
            read { scanner throws(JSONFault) in try walk(&scanner) },
            read { scanner throws(JSONFault) in try scanner.skip(try scanner.start()) },
        ]
    }

    private func walk(_ scanner: inout JSONScanner) throws(JSONFault) {
        switch try scanner.start() {
        case .null, .bool: return
        case .number: _ = try scanner.number()
        case .string: _ = try scanner.string()
        case .array:
            var more = try scanner.enter(.array)
            while more {
                try walk(&scanner)
                more = try scanner.advance(in: .array)
            }
        case .object:
            var more = try scanner.enter(.object)
            while more {
                _ = try scanner.name()
                try walk(&scanner)
                more = try scanner.advance(in: .object)
            }
        }
    }

    @Test func `names, numbers and texts of a JSON document are scanned with their positions`() throws {
        var scanner = try JSONScanner(
            Array(#" {"a\u0062" : [-1.50e3, true, null, "x"], "c":{ }} "#.utf8), maximumDepth: 2)
        #expect(try scanner.start() == .object && scanner.enter(.object))
        #expect(try scanner.name() == "ab")
        #expect(scanner.index == 14)
        #expect(try scanner.start() == .array && scanner.enter(.array))
        #expect(try scanner.start() == .number && scanner.number() == "-1.50e3" && scanner.advance(in: .array))
        #expect(try scanner.start() == .bool(true) && scanner.advance(in: .array))
        #expect(try scanner.start() == .null && scanner.advance(in: .array))
        #expect(try scanner.start() == .string && scanner.string() == "x")
        #expect(try !scanner.advance(in: .array))
        #expect(try scanner.advance(in: .object) && scanner.name() == "c")
        #expect(try scanner.start() == .object && !scanner.enter(.object))
        #expect(try !scanner.advance(in: .object))
        try scanner.finish()
    }

    @Test func `escapes are resolved in any order`() throws {
        var scanner = try JSONScanner(Array(#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é.\u26BD""#.utf8), maximumDepth: 0)
        #expect(try scanner.start() == .string)
        #expect(try scanner.string() == "\"\\/\u{8}\u{c}\n\r\té😀é.⚽")
        try scanner.finish()
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", #"{"a":1,}"#, #"{,}"#, "{a:1}", "{'a':1}", #"{"a"}"#, #"{"a":}"#, #"{"a" 1}"#, "{}}",
        "{} {}", #"{"a":1 "b":2}"#, "[1 2]", "[1", "]", "01", "1.", ".5", "+1", "1e", "1e+", "-", "-.5", "NaN", "tru",
        "nul", "truex", "\"\u{1}\"", "\"\n\"", #""\x""#, #""\u12""#, #""\u12G4""#, #""\ud800""#, #""\ud800\u0041""#,
        #""\ud800\n""#, #""\udc00""#, "\"abc", #""abc\"#, #"["\"]"#,
    ])
    func `JSON that RFC 8259 does not allow is refused, whether it is read or skipped`(text: String) {
        let faults = faults(Array(text.utf8))
        #expect(faults[0] != nil && faults[0] == faults[1])
        #expect(faults[0].map { $0.kind == .malformed && $0.offset <= text.utf8.count } == true)
    }

    @Test(arguments: [
        "0", "-0", "1.5", "1E-2", "1e+9", "12345678901234567890", "true", "\"\"", "[]", "{}",
        "\t[ 1 ,\r\n{\"a\" : [ ]} ] ",
        #"{"a":1,"a":2}"#, "\"\u{7F}\u{2028}\"",
    ])
    func `JSON that RFC 8259 allows is read`(text: String) { #expect(faults(Array(text.utf8)) == [nil, nil]) }

    @Test func `a fault has the position of the mistake`() {
        #expect(faults(Array(#"{"a": {"b": [1, x]}}"#.utf8))[0] == JSONFault("A value was expected", at: 16))
        #expect(
            faults(Array(#"{"a": 1 "b"}"#.utf8))[0] == JSONFault("A comma or } was expected in an object", at: 8))
        let invalid = Array("{\"é\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        #expect(faults(invalid)[0] == JSONFault("The text is not valid UTF-8", at: 7))
    }

    @Test func `nesting and the number of values are limited`() {
        let deep = { Array((String(repeating: "[", count: $0) + "1" + String(repeating: "]", count: $0)).utf8) }
        #expect(faults(deep(8), maximumDepth: 8) == [nil, nil])
        for fault in faults(deep(9), maximumDepth: 8) { #expect(fault?.detail.contains("deeper than 8") == true) }
        let wide = Array(#"{"a": [1, {"b": null}], "c": "d"}"#.utf8)
        #expect(faults(wide, maximumValues: 6) == [nil, nil])
        #expect(faults(wide, maximumValues: 5).allSatisfy { $0?.kind == .tooManyValues })
    }

    @Test(arguments: [[0xEF, 0xBB, 0xBF, 0x31], [0xFF, 0xFE, 0x31, 0x00]] as [[UInt8]])
    func `a byte order mark is refused by its name`(text: [UInt8]) {
        for fault in faults(text) { #expect(fault?.detail.contains("byte order mark (BOM)") == true) }
    }

    @Test func `no prefix of a text is valid, and no mutation stops the scanner`() {
        let text = Array(#"{"aps":{"a":[-1.5e3,"\ud83d\ude00é"],"b":null}}"#.utf8)
        for end in text.indices { #expect(faults(Array(text[..<end]))[0] != nil) }
        for index in text.indices {
            for byte: UInt8 in [0, 0x22, 0x2C, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x80, 0xFF] {
                var changed = text
                changed[index] = byte
                let faults = faults(changed)
                #expect(faults[0] == faults[1])
            }
        }
    }

    @Test func `a quoted text is read as the same, with only the necessary escapes`() throws {
        #expect("é\u{1B}[2K\r\n\u{9B}\u{2028}".escapingControls == #"é\u001b[2K\u000d\u000a\u009b\u2028"#)
        #expect("a\"\\/\n\r\t\u{0}\u{1F}\u{7F}é😀".quotedJSON == #""a\"\\/\n\r\t\u0000\u001f"# + "\u{7F}é😀\"")
        let text = String((0..<0x100).map { Character(Unicode.Scalar($0)!) })
        var scanner = try JSONScanner(Array(text.quotedJSON.utf8), maximumDepth: 0)
        #expect(try scanner.start() == .string)
        #expect(Array(try scanner.string().utf8) == Array(text.utf8))
    }
}
