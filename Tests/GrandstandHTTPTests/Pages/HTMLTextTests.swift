internal import Testing

@testable internal import GrandstandHTTP

struct HTMLTextTests {
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
