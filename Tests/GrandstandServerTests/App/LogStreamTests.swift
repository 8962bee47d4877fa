internal import Testing

@testable internal import GrandstandServer

/// The log as text.
struct LogStreamTests {
    @Test func `a value in a line forges no other line and sends no command to a terminal`() {
        let line = "2026-11-28T10:00:00+0000 info grandstand: name=a\nb\u{1B}[2J done\n"
        let written = String(decoding: LogStream.bytes(of: line), as: UTF8.self)
        #expect(written == #"2026-11-28T10:00:00+0000 info grandstand: name=a\u000ab\u001b[2J done"# + "\n")
    }
}
