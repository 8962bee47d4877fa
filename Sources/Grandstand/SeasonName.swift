internal import JSON

/// The organiser's name for a season: a league, a cup. Events have it in `metadata.season.name`.
package struct SeasonName: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    /// Accepts 1 to 64 of what an event key accepts; `nil` for anything else.
    package init?(rawValue: String) {
        guard EventKey(rawValue: rawValue) != nil, rawValue.utf8.count <= 64 else { return nil }
        self.rawValue = rawValue
    }

    /// The season of an event with this metadata, JSON text; `nil`: it names none.
    package static func named(in metadata: [UInt8]?) -> SeasonName? {
        guard let metadata, let json = try? JSONValue(parsing: metadata) else { return nil }
        return json["season"]?["name"]?.string.flatMap(SeasonName.init)
    }

    /// The rule of the alphabet, for refusals.
    package static let rule = "A season's name is 1 to 64 of A-Z a-z 0-9 . _ : and -."

    package var description: String { rawValue }
}
