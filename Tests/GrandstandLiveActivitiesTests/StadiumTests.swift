internal import Foundation
internal import Grandstand
internal import GrandstandLiveActivities
internal import JSON
internal import Testing

@testable internal import StadiumShared

/// The example's activity, made from the content that organisers send.
struct StadiumTests {
    @Test func `a score is read from the contents on the pages, also with unknown members`() throws {
        let sent = #"{"home": 1, "away": 0, "minute": 12, "headline": "Goal", "weather": "rain"}"#
        let score = try JSONDecoder().decode(MatchScore.self, from: Data(sent.utf8))
        #expect(score == MatchScore(home: 1, away: 0, minute: 12, headline: "Goal"))
        #expect(score.text == "1 : 0" && score.clock == "12'")
        #expect(score.spoken(home: "Rapid", away: "Sturm") == "Rapid 1, Sturm 0, minute 12")
        #expect(MatchScore(home: 0, away: 0).clock.isEmpty)
    }

    /// Checks the file that `grandstand content put` uploads. The file of an app with released versions also contains
    /// their schemas.
    @Test func `the declared content type has the schema of the Swift type, and its rules`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Examples/StadiumApp/MatchAttributes.json")
        let declaration = Array(try Data(contentsOf: file))
        let schema = try GrandstandLiveActivities.ContentSchema.of(MatchScore.self)
        let declared = try #require(try JSONValue(parsing: declaration)["versions"]?.elements?.last?["schema"])
        #expect(
            declared.isSame(as: try JSONValue(parsing: Array(schema.json))),
            "Put this into \(file.path): \(schema)")
        let type = try ContentType(
            try #require(BundleID(rawValue: "com.example.Stadium")), "MatchAttributes", parsing: declaration)
        #expect(type.rules.rings?.count == 2)
    }
}
