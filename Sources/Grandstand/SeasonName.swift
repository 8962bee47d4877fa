internal import GrandstandContract
internal import JSON

/// The organiser's name for a season: a league, a cup. Events have it in `metadata.season.name`.
package struct SeasonName: RawRepresentable, Codable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` for text that openapi.yaml does not allow.
    package init?(rawValue: String) {
        guard TextRule.seasonName.accepts(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The season that an event's metadata (JSON text) names; `nil`: it names no season.
    package static func named(in metadata: [UInt8]?) -> SeasonName? {
        guard let metadata, let json = try? JSONValue(parsing: metadata) else { return nil }
        return json["season"]?["name"]?.string.flatMap(SeasonName.init)
    }

    /// The rule for names as a sentence, for error messages.
    package static let rule = TextRule.seasonName.sentence

    package var description: String { rawValue }
}
