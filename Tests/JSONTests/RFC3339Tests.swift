internal import FoundationEssentials
internal import JSON
internal import Testing

/// Times as text.
struct RFC3339Tests {
    @Test func `a time is written like Foundation's style does`() {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        // Times in more than 5,000 years, so that all rules of leap years occur. Their milliseconds are not binary
        // fractions.
        for day in stride(from: 0, to: 2_000_000, by: 97) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_417 + Double(day % 1_000) / 1_000)
            #expect(RFC3339.text(date) == date.addingTimeInterval(0.000_000_5).formatted(style))
        }
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-0.001, "1969-12-31T23:59:59.999Z"), (0.999_9, "1970-01-01T00:00:00.999Z"),
        (951_782_399.52, "2000-02-28T23:59:59.520Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
        (4_102_444_799.999, "2099-12-31T23:59:59.999Z"), (253_402_300_799, "9999-12-31T23:59:59.000Z"),
    ])
    func `milliseconds are cut off`(_ seconds: Double, _ text: String) {
        #expect(RFC3339.text(Date(timeIntervalSince1970: seconds)) == text)
    }
}
