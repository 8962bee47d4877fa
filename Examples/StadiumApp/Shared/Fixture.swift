/// A match that the app offers. A real app gets its list from `GET /v1/lookup/{bundleId}/{environment}?topic=…`.
struct Fixture: Codable, Hashable, Sendable, Identifiable {
    /// The organiser's key of the event.
    var id: String
    var home: String
    var away: String

    /// People who follow a team automatically get an activity for each of its matches.
    var topics: [String] { [home, away].map { "team:" + $0.lowercased() } }

    static let today = [
        Fixture(id: "derby", home: "Rapid", away: "Sturm"), Fixture(id: "cup-final", home: "Austria", away: "Salzburg"),
    ]
}
