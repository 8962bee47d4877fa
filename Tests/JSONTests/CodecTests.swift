internal import FoundationEssentials
internal import JSON
internal import Testing

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
