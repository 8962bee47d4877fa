/// The organiser's own name for what people follow: a match, a game, a flight.
package struct EventKey: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    /// Accepts 1–128 of `A-Z a-z 0-9 . _ : -`; `nil` for anything else.
    package init?(rawValue: String) {
        guard (1...128).contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(Self.allows) else { return nil }
        self.rawValue = rawValue
    }

    /// The alphabet, a byte of UTF-8 at a time.
    static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: ":"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// The rule of the alphabet, for refusals.
    package static let rule = "An event key is 1 to 128 of A-Z a-z 0-9 . _ : and -."

    package var description: String { rawValue }
}
