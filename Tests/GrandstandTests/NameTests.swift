internal import Grandstand
internal import GrandstandContract
internal import Testing

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
            "a topic", { Topic(rawValue: $0) != nil }, ["team:rapid-1_a.B", long(128)],
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
            "a version", { SystemVersion($0) != nil }, ["18", "18.4.1"],
            ["", "18.", ".4", "18,4", "iOS 18", "1000", "18.4.1.2.3", "-1", "18.4b", "١٨"]
        ),
        (
            "a version of the contract", { TextRule.systemVersion.accepts($0) }, ["18", "18.4.1"],
            ["", "18.", "18,4", "1800", "1.2.3.4.5"]
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
