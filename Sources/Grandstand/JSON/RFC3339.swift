package import FoundationEssentials

/// Times as the API has them: RFC 3339, written in UTC with milliseconds, read with any offset.
package enum RFC3339 {
    private static let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let withoutFraction = Date.ISO8601FormatStyle()

    /// The style cuts off what is beyond milliseconds, and a `Date` is a binary fraction: .520 s may be .51999995. Half a
    /// microsecond more keeps what was written as it was; PostgreSQL's microseconds are cut off as before.
    package static func text(_ date: Date) -> String {
        date.addingTimeInterval(0.000_000_5).formatted(withFraction)
    }

    /// `nil` when `text` is not an RFC 3339 date-time with an offset.
    package static func date(_ text: String) -> Date? {
        (try? withoutFraction.parse(text)) ?? (try? withFraction.parse(text))
    }
}
