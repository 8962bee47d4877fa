internal import Grandstand
internal import Testing

struct NameTests {
    @Test(arguments: ["com.example.App", "a", "A-1.b", String(repeating: "x", count: 155)])
    func `valid bundle IDs are accepted`(text: String) { #expect(BundleID(rawValue: text)?.rawValue == text) }

    @Test(arguments: [
        "", "com.example.App.push-type.liveactivity", "com/example", "com.exämple", "com example", ".com", "com.",
        String(repeating: "x", count: 156), "com.example\n",
    ])
    func `invalid bundle IDs are refused`(text: String) { #expect(BundleID(rawValue: text) == nil) }

    @Test(arguments: ["a", "fifa-2022:final", "LH_400.2026-11-21", String(repeating: "k", count: 128)])
    func `valid event keys are accepted`(text: String) { #expect(EventKey(rawValue: text)?.rawValue == text) }

    @Test(arguments: ["", "a b", "a/b", "ä", "a%20", String(repeating: "k", count: 129), "a\u{0}"])
    func `invalid event keys are refused`(text: String) { #expect(EventKey(rawValue: text) == nil) }

    @Test func `capitals are noticed, and the topic is in lower case`() throws {
        let bundleID = try #require(BundleID(rawValue: "com.Example.App"))
        #expect(bundleID.hasCapitals)
        #expect(bundleID.topic == "com.example.app")
    }
}
