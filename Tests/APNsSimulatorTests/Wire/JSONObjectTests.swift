internal import Testing

@testable internal import APNsSimulator

struct JSONObjectTests {
    @Test func `members of every kind are read, also within aps`() throws {
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

    @Test func `the members of aps are read, and of two aps the last counts`() {
        func aps(_ text: String) -> [String]? { JSONObject(Array(text.utf8))?.aps?.names }
        #expect(aps(#"{"x":{"aps":{}},"aps":{"a":{"aps":{"b":1}},"c":[{"d":1}]}}"#) == ["a", "c"])
        #expect(JSONObject(Array(#"{"aps":{"a":{"b":1}}}"#.utf8))?.aps?["a"] == .object(12..<19))
        #expect(aps(#"{"aps":{"a":1},"aps":{"b":1}}"#) == ["b"])
        #expect(aps(#"{"aps":{"a":1},"aps":[]}"#) == nil)
        #expect(aps(#"{"\u0061ps":{"a":1}}"#) == ["a"])
        #expect(aps(#"{"aps":{"a":1}"#) == nil)
    }

    @Test func `of two members with one name the last counts`() {
        #expect(JSONObject(Array(#"{"a":1,"a":2}"#.utf8))?["a"] == .number("2"))
    }

    @Test(arguments: ["", " ", "null", "[]", "{}}", "{} x", #"{"a":1,}"#, #"{"a":[1"#])
    func `JSON that is not an object is refused`(text: String) {
        #expect(JSONObject(Array(text.utf8)) == nil)
    }
}
