internal import FoundationEssentials
internal import Testing

@testable internal import GrandstandAPI

@Suite("HTTP dates")
struct HTTPDatesTests {
    @Test(
        "a second is written as RFC 9110 has it",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_795_305_600, "Sun, 22 Nov 2026 00:00:00 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ])
    func text(_ second: Int, _ text: String) {
        #expect(String(decoding: HTTPDates.text(second), as: UTF8.self) == text)
    }
}
