internal import Testing

@testable internal import APNsSimulator

struct JSONObjectTests {
    @Test func `members of every kind are read, and of two with one name the last counts`() throws {
        let text =
            #" {"n":null,"t":true,"i":-12,"d":1.50e3,"s":"a\"\u26bd\ud83d\ude00\/","a":[1,[]],"o":{"x":{"y":1}},"n":2} "#
        let object = try #require(JSONObject(Array(text.utf8)))
        #expect(object["t"] == .other)
        #expect(object["i"]?.integer == -12)
        #expect(object["d"] == .number("1.50e3"))
        #expect(object["d"]?.integer == nil)
        #expect(object["s"]?.string == "a\"⚽😀/")
        #expect(object["a"] == .other)
        #expect(object["o"]?.object?.text == #"{"x":{"y":1}}"#)
        #expect(object["n"]?.integer == 2)
        #expect(object.aps == nil)
    }

    @Test func `the members of aps are read, and of two aps the last counts`() {
        func aps(_ text: String) -> [String]? { JSONObject(Array(text.utf8))?.aps?.members.keys.sorted() }
        #expect(aps(#"{"x":{"aps":{}},"aps":{"a":{"aps":{"b":1}},"c":[{"d":1}]}}"#) == ["a", "c"])
        #expect(aps(#"{"aps":{"a":1},"aps":{"b":1}}"#) == ["b"])
        #expect(aps(#"{"aps":{"a":1},"aps":[]}"#) == nil)
        #expect(aps(#"{"\u0061ps":{"a":1}}"#) == ["a"])
        #expect(aps(#"{"aps":{"a":1}"#) == nil)
    }

    @Test(arguments: ["", " ", "null", "[]", "{}}", "{} x", #"{"a":1,}"#, #"{"a":[1"#])
    func `JSON that is not an object is refused`(text: String) {
        #expect(JSONObject(Array(text.utf8)) == nil)
    }
}
