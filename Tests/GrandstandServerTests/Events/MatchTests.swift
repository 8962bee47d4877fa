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

    @Test func `a message is told in the words of its outcome, with the changed members first`() throws {
        let samples = try Samples()
        func entry(
            _ outcome: Contract.StateOutcome?, alert: String? = nil, event: Contract.BroadcastKind = .update
        ) throws -> TimelineEntry {
            var (before, message) = (try samples.message([]), try samples.message([], event: event))
            before.message?.contentState = try RawJSON(json: #"{"away": 0, "home": 0}"#)
            message.message?.contentState = try RawJSON(json: #"{"away": 0, "home": 1}"#)
            message.message?.alert = try alert.map { try RawJSON(json: $0) }
            message.message?.byVariant = nil
            message.outcome = outcome
            return TimelineEntry(message, of: samples.event().eventKey, [:], [:], since: before)
        }
        #expect(try entry(.rings, alert: #"{"title": "Goal"}"#).did == "Goal alert")
        #expect(try entry(nil, alert: #"{"title": {"loc-key": "GOAL"}}"#).did == "GOAL alert")
        #expect(try entry(.quiet).did == "quiet")
        #expect(try entry(.update).did == "update")
        #expect(try entry(.end, event: .end).did == "end")
        #expect(try entry(.quiet).content?.members.map(\.isChanged) == [true, false])
        #expect(try entry(.quiet).content?.members.first?.memberName == "home")
    }

    @Test func `the counts of a start are a sentence`() throws {
        var start = try Samples().start()
        #expect(
            StartBar(start).counted
                == "Of 1,200 followers, Apple refused it for 2 (2 BadDeviceToken) and 4 cannot get one (1 by their system, "
                + "1 switched off, 1 without a token, 1 too late).")
        start.counts = Contract.StartCounts()
        #expect(StartBar(start).counted == "Nobody follows it yet.")
    }
}
