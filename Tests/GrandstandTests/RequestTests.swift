internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Testing

/// Bodies are read by the rules in openapi.yaml.
struct RequestReadingTests {
    /// The problem of a body with these members; `nil`: it is accepted.
    private static func problem<Body: ContractRequest>(_ type: Body.Type, _ text: String) throws -> Problem? {
        do throws(Problem) {
            _ = try type.read(try JSONValue(parsing: Array(text.utf8)))
            return nil
        } catch {
            return error
        }
    }

    @Test func `all faults of a body are reported at once`() throws {
        let problem = try Self.problem(
            Contract.EventDraft.self,
            #"{"name": "", "channelsOpenBefore": 31536001, "startsAt": "noon", "kind": 1, "extra": true}"#)
        #expect(problem?.kind == .unknownField)
        #expect(
            problem?.errors.map(\.pointer)
                == ["/extra", "/name", "/kind", "/startsAt", "/channelsOpenBefore", "/audiences"])
    }

    @Test func `null is the same as a missing member, unless the member is required`() throws {
        #expect(try Self.problem(Contract.RotationDraft.self, #"{"overlapSeconds": null}"#) == nil)
        let problem = try Self.problem(Contract.ChannelDraft.self, #"{"storagePolicy": null}"#)
        #expect(problem?.errors.map(\.detail) == ["storagePolicy is required and cannot be null."])
    }

    @Test func `an unknown field of a nested object is found, too, and its name is escaped in the pointer`() throws {
        let problem = try Self.problem(
            Contract.AppDraft.self,
            #"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1", "preview": {"a/b~c": 1}}"#)
        #expect(problem?.errors.map(\.pointer) == ["/preview/a~1b~0c"])
    }

    @Test func `of many faults the first are listed, with the number of the others`() throws {
        let names = (0..<1_000).map { #""f\#($0)": 1"# }.joined(separator: ",")
        let problem = try Self.problem(Contract.ChannelDraft.self, "{\(names)}")
        // 1,001 faults: 1,000 unknown members and a missing one. Only the first 50 are listed.
        #expect(problem?.kind == .unknownField && problem?.errors.count == FaultList.limit)
        #expect(problem?.errors.first?.pointer == "/f0")
        #expect(problem?.detail.hasSuffix(" 951 more places are wrong and not listed.") == true)
    }

    @Test(arguments: ["2026-11-21T20:45:00Z", "2026-11-21T20:45:00.000Z", "2026-11-21T21:45:00+01:00"])
    func `a time may have any offset`(text: String) {
        #expect(RFC3339.date(text) == Date(timeIntervalSince1970: 1_795_293_900))
    }

    @Test(
        arguments: [
            "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-21T24:00:00Z",
            "2026-11-21T10:60:00Z", "2026-11-21T10:00:60Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-11-00T00:00:00Z", "2026-11-21T10:00:00+24:00", "2026-11-21T10:00:00+01:60", "2026-11-21T10:00:00",
            "2026-1-21T10:00:00Z", "2026-11-21", "", "1999-12-31T23:59:59-12:00", "2100-01-01T00:00:00Z",
        ].map { ($0, false) }
            + [
                "2028-02-29T00:00:00Z", "2000-02-29T23:59:59.999Z", "2026-04-30T12:00:00-09:30",
                "2026-12-31T23:59:59Z", "2000-01-01T00:00:00+14:00", "2099-12-31T23:59:59-12:00",
            ].map { ($0, true) })
    func `a time must exist and be in the years 2000 to 2099`(text: String, isTaken: Bool) throws {
        let problem = try Self.problem(
            Contract.KeyDraft.self, #"{"name": "x", "scopes": ["lookup"], "expiresAt": "\#(text)"}"#)
        #expect(problem?.errors.map(\.pointer) == (isTaken ? nil : ["/expiresAt"]))
    }

    @Test func `a number beyond the range of a double is refused as such`() throws {
        let problem = try Self.problem(Contract.EventDefaults.self, #"{"relevanceScore": 1e400}"#)
        #expect(
            problem?.errors.map(\.detail)
                == ["A number of at most 1.8e308 was expected; this one is beyond what a double holds."])
    }

    @Test func `the length of a text is counted in code points`() throws {
        func draft(_ name: String) -> String { #"{"name": "\#(name)", "scopes": ["lookup"]}"# }
        // 100 visible characters, each of two code points.
        let marked = String(repeating: "e\u{301}", count: 100)
        #expect(try Self.problem(Contract.KeyDraft.self, draft(marked)) == nil)
        #expect(try Self.problem(Contract.KeyDraft.self, draft("🏆 صباح 東京")) == nil)
        #expect(
            try Self.problem(Contract.KeyDraft.self, draft(marked + "e"))?.errors.map(\.detail)
                == ["A string of 1 to 200 characters was expected; this one has 201."])
        #expect(try Self.problem(Contract.KeyDraft.self, draft(#"a\u0000b"#))?.kind == .invalidRequest)
    }

    @Test func `of two members that exclude each other the second is reported`() throws {
        let problem = try Self.problem(
            Contract.BroadcastDraft.self,
            #"{"event": "update", "contentState": {}, "expiresIn": 1, "apnsExpiration": 0}"#)
        #expect(problem?.errors.map(\.pointer) == ["/apnsExpiration"])
    }
}

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

struct NameTests {
    private static func long(_ count: Int) -> String { String(repeating: "a", count: count) }

    static let names: [(name: String, accepts: @Sendable (String) -> Bool, valid: [String], invalid: [String])] = [
        (
            "a bundle ID", { BundleID(rawValue: $0)?.rawValue == $0 },
            ["com.example.App", "a", "-", "A-1.b", long(155)],
            [
                "", "com.example.App.push-type.liveactivity", "com/example", "com.exämple", "com example", ".com",
                "com.", long(156), "com.example\n", "com.example!",
            ]
        ),
        (
            "an event key", { EventKey(rawValue: $0)?.rawValue == $0 },
            ["a", "fifa-2022:final", "LH_400.2026-11-21", long(128)],
            ["", "a b", "a/b", "ä", "a%20", long(129), "a\u{0}"]
        ),
        (
            "a topic", { TextRule.topic.accepts($0) }, ["team:rapid-1_a.B", long(128)],
            ["", "a b", "team/rapid", "é", long(129)]
        ),
        (
            "an activity's ID", { TextRule.activityId.accepts($0) }, ["8A2F3C1B-0000-4000-8000-000000000001"],
            ["", "a b", "team/rapid", "é", long(129)]
        ),
        (
            "a variant", { Variant(rawValue: $0) != nil }, ["de", "pt-BR", "home:A_1.0", long(32)],
            ["", "dé", "a b", long(33)]
        ),
        (
            "a request ID", { RequestID(rawValue: $0)?.rawValue == $0 },
            ["a", "8f0c-1d2e", "trace/1:2@x+y=.z_", long(128)],
            ["", "a b", "a\nb", "ä", "a\"b", "<x>", long(129)]
        ),
        (
            "a token", { TextRule.deviceToken.accepts($0) }, ["00aF", long(1_024)],
            ["", "8", "80a", "80 ab", "0x80", "zz", "80é", long(1_026)]
        ),
        (
            "a version", { TextRule.systemVersion.accepts($0) }, ["18", "18.4.1"],
            ["", "18.", ".4", "18,4", "iOS 18", "1000", "18.4.1.2.3", "-1", "18.4b", "١٨"]
        ),
        (
            "a language tag", { TextRule.languageTag.accepts($0) }, ["de", "pt-BR", "zh-Hant-TW"],
            ["d", "de-", "de_AT"]
        ),
        (
            "a name for people", { TextRule.name.accepts($0) }, ["Österreich 🇦🇹", long(200)],
            ["", "a\u{0}", "a\u{7F}", "a\u{85}b", "a\u{2028}b", long(201)]
        ),
    ]

    @Test(arguments: names)
    func `each kind of name has its characters and its length`(
        _ name: String, _ accepts: @Sendable (String) -> Bool, _ valid: [String], _ invalid: [String]
    ) {
        for text in valid { #expect(accepts(text), "\(name): \(text)") }
        for text in invalid { #expect(!accepts(text), "\(name): \(text)") }
    }

    @Test func `capitals are noticed, and the topic is in lower case`() throws {
        let bundleID = try #require(BundleID(rawValue: "com.Example.App"))
        #expect(bundleID.hasCapitals)
        #expect(bundleID.topic == "com.example.app")
    }
}
