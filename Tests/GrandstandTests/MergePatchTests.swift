internal import Grandstand
internal import JSON
internal import Testing

/// Merge patches as in RFC 7396.
struct MergePatchTests {
    private func apply(_ patch: String, to target: String, keepsNulls: Bool = false) throws -> String {
        String(
            decoding: MergePatch.apply(
                try JSONValue(parsing: Array(patch.utf8)), to: try JSONValue(parsing: Array(target.utf8)),
                keepsNulls: keepsNulls), as: UTF8.self)
    }

    /// The RFC's own examples (appendix A): target, patch, result.
    @Test(arguments: [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
        (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
        (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#), ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
        ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ])
    func `the RFC's examples give their results`(target: String, patch: String, result: String) throws {
        #expect(try apply(patch, to: target) == result)
    }

    @Test func `members that a patch does not name keep their bytes`() throws {
        #expect(
            try apply(#"{"b": 2}"#, to: #"{"a": { "x" : 1.0, "y":"\u00fc" }, "b": 1}"#)
                == #"{"a":{ "x" : 1.0, "y":"\u00fc" },"b":2}"#)
    }

    @Test func `the names of removed members are kept for readers that treat null as absent`() throws {
        #expect(
            try apply(#"{"a":null,"z":null,"c":{"d":null}}"#, to: #"{"a":1,"c":{"d":2}}"#, keepsNulls: true)
                == #"{"a":null,"c":{},"z":null}"#)
    }
}
