internal import FoundationEssentials
internal import Grandstand

extension LookupIndex {
    /// An event's place in a list: ordered by its start. Events without a start come last.
    struct Place: Sendable, Hashable, Comparable {
        /// Seconds since 1970, or infinity.
        let startsAt: TimeInterval
        let key: EventKey

        init(startsAt: Date?, key: EventKey) {
            self.startsAt = startsAt?.timeIntervalSince1970 ?? .infinity
            self.key = key
        }

        static func < (one: Place, other: Place) -> Bool {
            (one.startsAt, one.key.rawValue) < (other.startsAt, other.key.rawValue)
        }

        /// The exact place as text for a cursor. It has only characters that are allowed in a URL's query.
        var text: String { "\(startsAt.bitPattern).\(key)" }

        /// Parses the text that the property `text` writes; `nil` for anything else.
        init?(text: String) {
            guard let separator = text.firstIndex(of: "."), let bits = UInt64(text[..<separator]),
                !Double(bitPattern: bits).isNaN,
                let key = EventKey(rawValue: String(text[text.index(after: separator)...]))
            else { return nil }
            startsAt = Double(bitPattern: bits)
            self.key = key
        }
    }
}
