internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import Testing

@testable internal import GrandstandServer

/// The content of the match page, made without a server or a database.
struct MatchTests {
    @Test func `the score is the newest content that Apple accepted, as the app's preview template shows it`() throws {
        let samples = try Samples()
        var rejected = try samples.message([samples.delivery(.rejected, reason: "BadPriority")])
        rejected.id = UUID().words
        let accepted = try samples.message([samples.delivery(.accepted)])
        var waiting = try samples.message([samples.delivery(.queued, attempts: 0)])
        waiting.id = UUID().words
        let previews = [samples.bundleID: samples.preview]
        let cards = ScoreCard.cards(samples.event(), [waiting, rejected, accepted], previews)
        // The two environments of an app show followers the same content, so they share one card.
        #expect(cards.count == 1)
        #expect(cards[0].scoreCompact == "1 – 0" && cards[0].scoreJSON == nil)
        #expect(cards[0].scoreNote == "Something newer is on its way.")
        let plain = ScoreCard.cards(samples.event(), [accepted], [:])
        #expect(plain[0].scoreCompact == nil)
        #expect(plain[0].scoreJSON == "{\n  \"home\": 1,\n  \"away\": 0,\n  \"t\": \"Derby\"\n}")
        #expect(plain[0].scoreNote == nil)
        #expect(
            ScoreCard.cards(samples.event(), [rejected], previews)[0].scoreNote?.contains("taken no content") == true)
    }
}
