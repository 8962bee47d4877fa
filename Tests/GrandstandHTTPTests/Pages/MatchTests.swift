internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandHTTP

/// The content of the match page, made without a server or a database.
struct MatchTests {
    @Test func `the score is the newest content that Apple accepted, as the app's preview template shows it`() throws {
        let samples = try Samples()
        var rejected = try samples.message([samples.delivery(.rejected, reason: "BadPriority")])
        rejected.id = UUID()
        let accepted = try samples.message([samples.delivery(.accepted)])
        var waiting = try samples.message([samples.delivery(.queued, attempts: 0)])
        waiting.id = UUID()
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

    @Test func `a message shows its content, its sender and its deliveries`() throws {
        let samples = try Samples()
        var accepted = samples.delivery(.accepted)
        accepted.settledAt = Samples.now.addingTimeInterval(0.041)
        var superseded = samples.delivery(.superseded)
        superseded.supersededBy = samples.id
        let entry = TimelineEntry(
            try samples.message([accepted, superseded, samples.delivery(.rejected, reason: "BadPriority")]),
            of: samples.key, samples.event().specification.audiences, [samples.bundleID: samples.preview])
        #expect(entry.entryText == "1 – 0" && entry.gist == "1 – 0")
        #expect(entry.alertText == "Derby — b")
        #expect(entry.contents.map(\.heading) == ["contentState", "alert", "contentState for de", "alert for de"])
        #expect(entry.lines[0].answeredIn == "41 ms")
        #expect(entry.lines[1].successorHref == "#b-11111111-2222-4333-8444-555555555555")
        #expect(entry.lines[1].answeredIn == nil)
        #expect(entry.lines[2].deliveryAdvice?.isEmpty == false)
        #expect(entry.withdrawAction == nil)
        let waiting = TimelineEntry(
            try samples.message([samples.delivery(.waiting, attempts: 0)]), of: samples.key, [], [:])
        #expect(waiting.withdrawAction?.hasSuffix("/withdraw") == true && waiting.entryText == nil)
        // Without a preview template, `gist` is the content state itself.
        #expect(waiting.gist == #"{"home":1,"away":0,"t":"Derby"}"#)
    }

    @Test func `the plot shows each answered message at its time, with its duration`() throws {
        let samples = try Samples()
        func message(after seconds: Double, answeredIn milliseconds: Double?) throws -> Broadcast {
            var delivery = samples.delivery(milliseconds == nil ? .queued : .accepted)
            var message = try samples.message([])
            message.acceptedAt = Samples.now.addingTimeInterval(seconds)
            message.sendAt = nil
            delivery.settledAt = milliseconds.map { message.acceptedAt.addingTimeInterval($0 / 1_000) }
            message.deliveries = [delivery]
            return message
        }
        let plot = try #require(
            MatchPlot(
                [
                    try message(after: 600, answeredIn: nil), try message(after: 300, answeredIn: 1_000),
                    try message(after: 0, answeredIn: 10),
                ], until: Samples.now.addingTimeInterval(600)))
        let (first, last) = (try #require(plot.answers.first), try #require(plot.answers.last))
        #expect(plot.answers.count == 2 && first.x < last.x && first.y > last.y)
        #expect(plot.plotSummary == "2 messages, half of them within 10 ms, the slowest 1 s")
        #expect(MatchPlot([try message(after: 0, answeredIn: nil)], until: nil) == nil)
        #expect(MatchPlot.length(audiences: 1) == 200 && MatchPlot.length(audiences: 1_000) == 20)
    }

    @Test func `the page offers the actions that the event's state allows`() throws {
        let samples = try Samples()
        func actions(_ state: Event.State, _ starts: [AudienceStart] = []) throws -> EventActions {
            var event = samples.event(state)
            if !starts.isEmpty {
                event.specification.start = StartDeclaration(
                    attributesType: "A", attributes: Array("{}".utf8), alert: Array("{}".utf8))
            }
            return EventActions(event, starts: starts)
        }
        let live = try actions(.live)
        #expect(live.endHref != nil && live.cancelHref != nil && live.reopenHref == nil && live.startHref == nil)
        let over = try actions(.ended)
        #expect(over.endHref == nil && over.cancelHref == nil && over.moveAction == nil && over.reopenHref != nil)
        #expect(try actions(.live, [samples.start(.running)]).stopAction != nil)
        #expect(try actions(.live, [samples.start(.running)]).startHref == nil)
        #expect(try actions(.live, [samples.start(.stopped)]).startHref != nil)
        #expect(try actions(.live, [samples.start(.stopped)]).stopAction == nil)
    }

    @Test func `a page of older messages does not refresh itself, but has the newest score`() throws {
        let samples = try Samples()
        let event = samples.event()
        let contents = samples.contents(event, [try samples.message([samples.delivery(.accepted)])])
        #expect(EventDetail(contents, samples.visit()).refresh == 1)
        let older = EventDetail(contents, samples.visit(query: "cursor=x"))
        #expect(older.refresh == nil && older.cards.count == 1)
    }
}
