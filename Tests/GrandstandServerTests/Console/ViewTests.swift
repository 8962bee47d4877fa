internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

/// How pages show addresses and texts.
struct ViewTests {
    @Test func `addresses are escaped, and links to other pages of a list keep its filters`() throws {
        let samples = try Samples()
        #expect(ConsolePath.event(try #require(EventKey(rawValue: "a:b"))) == "/console/events/a%3Ab")
        #expect(
            ConsolePath.channels(samples.app) == "/console/apps/com.example.Stadium/production/channels")
        #expect(ConsolePath.link("/console", [("a", "x&y"), ("b", nil)]) == "/console?a=x%26y")
        let first = Pager(samples.visit("/console/events"), query: [("kind", "a b")], nextCursor: "c=")
        #expect(first.start == nil && first.onward == "/console/events?kind=a%20b&cursor=c%3D" && first.isNeeded)
        let last = Pager(samples.visit("/console/events", query: "cursor=c"), query: [("kind", "x")], nextCursor: nil)
        #expect(last.start == "/console/events?kind=x" && last.onward == nil && last.isNeeded)
        #expect(!Pager(samples.visit(), nextCursor: nil).isNeeded)
    }

    // MARK: Escaping

    @Test(arguments: [
        ("Derby – 1:0 ⚽️", "Derby – 1:0 ⚽️"), ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"),
        ("\"\u{301}", "&quot;\u{301}"), ("<\u{338}", "&lt;\u{338}"), ("a\u{202E}b\u{2066}", "a[U+202E]b[U+2066]"),
        ("\u{0}\u{1B}\u{7F}\u{9B}", "[U+0][U+1B][U+7F][U+9B]"), ("\r\n\t", "[U+D]\n\t"),
        ("עברית \u{200F}", "עברית \u{200F}"), ("👨‍👩‍👧", "👨‍👩‍👧"), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"),
    ])
    func `markup is escaped, deceptive characters are shown by name, and other text stays`(text: String, html: String) {
        #expect(Array(HTMLText().escapeText(text).unicodeScalars) == Array(html.unicodeScalars))
    }
}
