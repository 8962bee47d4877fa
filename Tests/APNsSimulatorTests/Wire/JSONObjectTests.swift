internal import Testing

@testable internal import APNsSimulator

@Suite("Reading a JSON object")
struct JSONObjectTests {
    @Test("Members of every kind, at the outer level and one within")
    func kinds() throws {
        let text =
            #" {"n":null,"t":true,"f":false,"i":-12,"d":1.50e3,"s":"a\"\u26bd\ud83d\ude00\/","a":[1,[]],"o":{"x":{"y":1}}} "#
        let object = try #require(JSONObject(Array(text.utf8)))
        #expect(object["n"] == .null)
        #expect(object["t"] == .bool(true))
        #expect(object["f"] == .bool(false))
        #expect(object["i"]?.integer == -12)
        #expect(object["d"] == .number("1.50e3"))
        #expect(object["d"]?.integer == nil)
        #expect(object["s"] == .string("a\"⚽😀/"))
        #expect(object["a"] == .array)
        #expect(object.names == ["n", "t", "f", "i", "d", "s", "a", "o"])
        #expect(object.aps == nil)
    }

    @Test("Within aps its members are read, too; of two the last counts, whatever it is")
    func aps() {
        func aps(_ text: String) -> [String]? { JSONObject(Array(text.utf8))?.aps?.names }
        #expect(aps(#"{"x":{"aps":{}},"aps":{"a":{"aps":{"b":1}},"c":[{"d":1}]}}"#) == ["a", "c"])
        #expect(JSONObject(Array(#"{"aps":{"a":{"b":1}}}"#.utf8))?.aps?["a"] == .object(12..<19))
        #expect(aps(#"{"aps":{"a":1},"aps":{"b":1}}"#) == ["b"])
        #expect(aps(#"{"aps":{"a":1},"aps":[]}"#) == nil)
        #expect(aps(#"{"\u0061ps":{"a":1}}"#) == ["a"])
        #expect(aps(#"{"aps":{"a":1}"#) == nil)
    }

    @Test("Of two members with one name the last counts")
    func twice() {
        #expect(JSONObject(Array(#"{"a":1,"a":2}"#.utf8))?["a"] == .number("2"))
    }

    @Test("Not an object in JSON", arguments: ["", " ", "null", "[]", "{}}", "{} x", #"{"a":1,}"#, #"{"a":[1"#])
    func malformed(text: String) {
        #expect(JSONObject(Array(text.utf8)) == nil)
    }

    @Test("Bytes that are not UTF-8, and nesting without end")
    func hostile() {
        #expect(JSONObject([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]) == nil)
        let deep = String(repeating: "[", count: 20_000)
        #expect(JSONObject(Array("{\"a\":\(deep)".utf8)) == nil)
        let objects = String(repeating: "{\"a\":", count: 20_000)
        #expect(JSONObject(Array(objects.utf8)) == nil)
    }
}
