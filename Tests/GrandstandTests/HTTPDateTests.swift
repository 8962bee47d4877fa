internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct HTTPDateTests {
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_795_305_600, "Sun, 22 Nov 2026 00:00:00 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ])
    func `a time is written in the form of RFC 9110 and read as the same`(_ second: Int, _ text: String) {
        #expect(HTTPDate.text(second) == text)
        #expect(HTTPDate.parse(text) == Date(timeIntervalSince1970: Double(second)))
    }

    @Test(arguments: [
        "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:00:00 GMT",
    ])
    func `other text is not a date`(text: String) { #expect(HTTPDate.parse(text) == nil) }
}
