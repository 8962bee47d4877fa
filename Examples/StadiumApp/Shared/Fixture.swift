/// A match that the app offers. A real app gets its list from `GET /v1/lookup/{bundleId}/{environment}?topic=…`.
struct Fixture: Codable, Hashable, Sendable, Identifiable {
    /// The organiser's key of the event.
    var id: String
    var home: String
    var away: String

    /// Who follows a team gets the card of each of its matches by itself.
    var topics: [String] { [home, away].map { "team:" + $0.lowercased() } }

    static let today = [
        Fixture(id: "derby", home: "Rapid", away: "Sturm"), Fixture(id: "cup-final", home: "Austria", away: "Salzburg"),
    ]
}
