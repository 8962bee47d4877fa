internal import FoundationEssentials
internal import JSON
internal import Testing

struct JSONParserTests {
    private func parse(_ text: [UInt8], maximumValues: Int = .max) throws(JSONFault) -> JSONValue {
        var parser = JSONParser(text, maximumValues: maximumValues)
        return try parser.parse()
    }

    private func fault(_ text: [UInt8], maximumValues: Int = .max) -> JSONFault? {
        do throws(JSONFault) {
            _ = try parse(text, maximumValues: maximumValues)
            return nil
        } catch {
            return error
        }
    }

    @Test func `names, numbers and texts of a JSON document are read, and each value keeps its bytes`() throws {
        let value = try parse(Array(#" {"a\u0062" : [-1.50e3, true, null, "x"], "c":{ }} "#.utf8))
        #expect(value.compact == Array(#"{"ab":[-1.50e3,true,null,"x"],"c":{}}"#.utf8))
        #expect(value["ab"]?.bytes == Array(#"[-1.50e3, true, null, "x"]"#.utf8))
        #expect(value["ab"]?.elements?.map(\.kindName) == ["a number", "a boolean", "null", "a string"])
    }

    @Test func `escapes are resolved in any order`() throws {
        let text = try parse(Array(#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é.\u26BD""#.utf8)).string
        #expect(text == "\"\\/\u{8}\u{c}\n\r\té😀é.⚽")
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", #"{"a":1,}"#, #"{,}"#, "{a:1}", "{'a':1}", #"{"a"}"#, #"{"a":}"#, #"{"a" 1}"#, "{}}",
        "{} {}", #"{"a":1 "b":2}"#, "[1 2]", "[1", "]", "01", "1.", ".5", "+1", "1e", "1e+", "-", "-.5", "NaN", "tru",
        "nul", "truex", "\"\u{1}\"", "\"\n\"", #""\x""#, #""\u12""#, #""\u12G4""#, #""\ud800""#, #""\ud800\u0041""#,
        #""\ud800\n""#, #""\udc00""#, "\"abc", #""abc\"#, #"["\"]"#,
    ])
    func `JSON that RFC 8259 does not allow is refused`(text: String) {
        let fault = fault(Array(text.utf8))
        #expect(fault.map { $0.kind == .malformed && $0.offset <= text.utf8.count } == true)
    }

    @Test(arguments: [
        "0", "-0", "1.5", "1E-2", "1e+9", "12345678901234567890", "true", "\"\"", "[]", "{}",
        "\t[ 1 ,\r\n{\"a\" : [ ]} ] ",
        "\"\u{7F}\u{2028}\"",
    ])
    func `JSON that RFC 8259 allows is read`(text: String) { #expect(fault(Array(text.utf8)) == nil) }

    @Test func `a fault has the position of the mistake`() {
        for (text, detail, offset) in [
            (#"{"a": {"b": [1, x]}}"#, "A value was expected", 16),
            (#"{"a": 1 "b"}"#, "A comma or } was expected in an object", 8),
            (#"{"a": [1 2]}"#, "A comma or ] was expected in an array", 9),
        ] {
            let fault = fault(Array(text.utf8))
            #expect(fault?.detail == detail && fault?.offset == offset)
        }
        #expect(fault(Array(#"{"a": {"b": [1, x]}}"#.utf8))?.pointer == "/a/b/1")
        let invalid = Array("{\"é\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        #expect(fault(invalid) == JSONFault("The text is not valid UTF-8", at: 7))
    }

    @Test func `nesting and the number of values are limited`() {
        let deep = { Array((String(repeating: "[", count: $0) + "1" + String(repeating: "]", count: $0)).utf8) }
        #expect(fault(deep(128)) == nil && fault(deep(129))?.detail.contains("deeper than 128") == true)
        let wide = Array(#"{"a": [1, {"b": null}], "c": "d"}"#.utf8)
        #expect(fault(wide, maximumValues: 6) == nil && fault(wide, maximumValues: 5)?.kind == .tooManyValues)
    }

    @Test(arguments: [[0xEF, 0xBB, 0xBF, 0x31], [0xFF, 0xFE, 0x31, 0x00]] as [[UInt8]])
    func `a byte order mark is refused by its name`(text: [UInt8]) {
        #expect(fault(text)?.detail.contains("byte order mark (BOM)") == true)
    }

    @Test func `no prefix of a text is valid, and no mutation stops the parser`() {
        let text = Array(#"{"aps":{"a":[-1.5e3,"\ud83d\ude00é"],"b":null}}"#.utf8)
        for end in text.indices { #expect(fault(Array(text[..<end])) != nil) }
        for index in text.indices {
            for byte: UInt8 in [0, 0x22, 0x2C, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x80, 0xFF] {
                var changed = text
                changed[index] = byte
                if let value = try? parse(changed) { #expect(fault(value.compact) == nil) }
            }
        }
    }

    @Test func `a quoted text is read as the same, with only the necessary escapes`() throws {
        #expect("é\u{1B}[2K\r\n\u{9B}\u{2028}".escapingControls == #"é\u001b[2K\u000d\u000a\u009b\u2028"#)
        #expect("a\"\\/\n\r\t\u{0}\u{1F}\u{7F}é😀".quotedJSON == #""a\"\\/\n\r\t\u0000\u001f"# + "\u{7F}é😀\"")
        let text = String((0..<0x100).map { Character(Unicode.Scalar($0)!) })
        #expect(try parse(Array(text.quotedJSON.utf8)).string.map { Array($0.utf8) } == Array(text.utf8))
    }
}

struct JSONValueTests {
    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("0.0", 0), ("0e-99999999999", 0), ("0e99999999999999999999", 0), ("-0.00E+7", 0),
            ("5.0", 5), ("-5e0", -5), ("50e-1", 5), ("0.5e1", 5), ("1200.00e-2", 12),
            ("1e18", 1_000_000_000_000_000_000),
            ("9007199254740993.0", 9_007_199_254_740_993), ("9223372036854775807.0", .max),
            ("-9223372036854775.808e3", .min),
            ("0.5", nil), ("5e-1", nil), ("1e-400", nil), ("1e-99999999999", nil), ("-1e-99999999999999999999", nil),
            ("1.00000000000000000001", nil), ("9223372036854775808.0", nil), ("1e19", nil), ("1e400", nil),
            ("1e9223372036854775807", nil), ("0.01e-9223372036854775808", nil),
        ] as [(String, Int?)])
    func `a whole number is read exactly, however it is written, and others are no integers`(
        text: String, number: Int?
    ) throws {
        var parser = JSONParser(Array(text.utf8))
        #expect(try parser.parse().integer == number)
    }
}

/// Times as text.
struct RFC3339Tests {
    @Test func `a time is written like Foundation's style does`() {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        // Times in more than 5,000 years, so that all rules of leap years occur. Their milliseconds are not binary
        // fractions.
        for day in stride(from: 0, to: 2_000_000, by: 97) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_417 + Double(day % 1_000) / 1_000)
            #expect(RFC3339.text(date) == date.addingTimeInterval(0.000_000_5).formatted(style))
        }
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-0.001, "1969-12-31T23:59:59.999Z"), (0.999_9, "1970-01-01T00:00:00.999Z"),
        (951_782_399.52, "2000-02-28T23:59:59.520Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
        (4_102_444_799.999, "2099-12-31T23:59:59.999Z"), (253_402_300_799, "9999-12-31T23:59:59.000Z"),
    ])
    func `milliseconds are cut off`(_ seconds: Double, _ text: String) {
        #expect(RFC3339.text(Date(timeIntervalSince1970: seconds)) == text)
    }
}

/// `Codable` types are read and written as the API has them.
struct CodecTests {
    private struct Inner: Codable, Equatable {
        var a: Int?
        var b: String?
    }

    private struct Outer: Codable, Equatable, WritesNulls {
        var text: String
        var number: Double
        var flag: Bool?
        var at: Date?
        var inner: [Inner]
        var counts: [String: Int]
        var left: Inner?

        static let leftOut = ["left"]
    }

    private static func text(_ value: some Encodable) -> String {
        String(decoding: JSONWriter.text(value), as: UTF8.self)
    }

    private static func read<Value: Decodable>(_ text: String, _ type: Value.Type = Value.self) throws -> Value {
        try JSONValue(decoding: text.utf8).decode()
    }

    @Test func `members are in the order of their declaration, and absent ones are null where a type says so`() throws {
        let at = Date(timeIntervalSince1970: 1_795_293_900.25)
        let full = Outer(
            text: "ä\n", number: 7.5, flag: true, at: at, inner: [Inner(a: 1), Inner()],
            counts: ["z": 1, "a": 2, "m": 3], left: Inner(b: "x"))
        let empty = Outer(text: "", number: 0, inner: [], counts: [:])
        let text =
            #"{"text":"ä\n","number":7.5,"flag":true,"at":"2026-11-21T20:45:00.250Z","inner":[{"a":1},{}],"counts":{"a":2,"m":3,"z":1},"left":{"b":"x"}}"#
        #expect(try Self.text(full) == text && Self.read(text) == full)
        #expect(Self.text(empty) == #"{"text":"","number":0,"flag":null,"at":null,"inner":[],"counts":{}}"#)
        let other = #"{"counts":{}, "newer":[{}], "text":"", "inner":[], "number":0e1, "at":null}"#
        #expect(try Self.read(other) == empty)
        let json = try JSONValue(decoding: other.utf8)
        #expect(throws: DecodingError.self) { try json.decode(Outer.self, refusingOthers: true) }
    }

    @Test func `numbers are exact, and null if JSON has no such number`() throws {
        #expect(Self.text([Int.max, .min]) == "[9223372036854775807,-9223372036854775808]")
        #expect(try Self.read("[9223372036854775807, 5.0, 3e0]", [Int].self) == [.max, 5, 3])
        #expect(try Self.read("18446744073709551615", UInt64.self) == .max)
        for text in ["9223372036854775808", "1.5"] { #expect((try? Self.read(text, Int.self)) == nil) }
        #expect((try? Self.read("256", UInt8.self)) == nil)
        let doubles = [0.1, 100, 1e300, -0.0, 2.5e-7, .infinity, .nan]
        #expect(Self.text(doubles) == "[0.1,100,1e+300,0,2.5e-07,null,null]")
    }

    @Test(arguments: [
        (#"{"text":"","number":1,"inner":[{"a":1},{"b":5}],"counts":{}}"#, "inner/1/b"),
        (#"{"text":"","number":1,"inner":[],"counts":{"x":"1"}}"#, "counts/x"), (#"{"number":1}"#, "text"),
        (#"{"text":null,"number":1,"inner":[],"counts":{}}"#, "text"), ("[]", ""), ("{", ""),
        (#"{"text":"","number":1,"inner":[],"counts":{},"at":"noon"}"#, "at"),
    ])
    func `an error has the path to the fault`(text: String, path: String) {
        #expect {
            try Self.read(text, Outer.self)
        } throws: { error in
            let keys: [any CodingKey] =
                switch error as? DecodingError {
                case .keyNotFound(let name, let context)?: context.codingPath + [name]
                case .typeMismatch(_, let context)?, .dataCorrupted(let context)?: context.codingPath
                default: []
                }
            return error is DecodingError && keys.map(\.stringValue).joined(separator: "/") == path
        }
    }
}
