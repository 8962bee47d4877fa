package import FoundationEssentials

/// Times as the API has them: RFC 3339, written in UTC with milliseconds, read with any offset.
package enum RFC3339 {
    private static let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let withoutFraction = Date.ISO8601FormatStyle()

    package static func text(_ date: Date) -> String { date.formatted(withFraction) }

    /// `nil` when `text` is not an RFC 3339 date-time with an offset.
    package static func date(_ text: String) -> Date? {
        (try? withoutFraction.parse(text)) ?? (try? withFraction.parse(text))
    }
}
