internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Testing

@testable internal import GrandstandServer

struct ReopeningTests {
    @Test func `a reopening warns for each audience of what cannot be undone`() throws {
        let bundleID = try #require(BundleID(rawValue: "com.example.Goal"))
        func part(_ environment: APNsEnvironment, lost: String? = nil, ended: Bool = false) -> Reopening.Part {
            Reopening.Part(
                audience: Audience.ID(bundleID: bundleID, environment: environment),
                outcome: lost == nil ? .kept : .new, lostChannelID: lost, mayHaveEnded: ended)
        }
        let event = Contract.Event(
            key: "derby", name: "Derby", state: .live, audiences: [], metadata: RawJSON(unchecked: "{}".utf8),
            topics: [],
            createdAt: RouteWorld.now, updatedAt: RouteWorld.now)
        #expect(Reopening(event: event, parts: [part(.production)]).warnings.isEmpty)
        let parts = [part(.development, lost: "abc=="), part(.production, ended: true)]
        let warnings = Reopening(event: event, parts: parts).warnings
        #expect(warnings.count == 2 && warnings[0].contains("abc==") && warnings[1].contains("in production"))
    }
}
