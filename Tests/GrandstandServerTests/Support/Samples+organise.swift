internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import JSON

@testable internal import GrandstandServer

/// Values for organisers' pages.
extension Samples {
    var preview: ContentPreview {
        ContentPreview(.init(compact: "{{home}} – {{away}}", expanded: "{{minute}}′ {{t}}"))
    }

    /// A message with every member that it may have.
    func request() throws -> Contract.BroadcastDraft {
        let text = JSONText.quoted(text)
        return Contract.BroadcastDraft(
            event: .update, contentState: try RawJSON(json: #"{"home": 1, "away": 0, "t": \#(text)}"#),
            alert: try RawJSON(json: #"{"title": \#(text), "body": "b"}"#),
            byVariant: [
                "de": .init(contentState: try RawJSON(json: "{}"), alert: try RawJSON(json: #"{"title": "x"}"#))
            ],
            audiences: [.init(bundleId: bundleID.rawValue, environment: .production)], priority: 10, expiresIn: 300,
            staleDate: Date(timeIntervalSince1970: 1_900_000_000))
    }

    /// A message and its deliveries.
    func message(
        _ deliveries: [Contract.Delivery], event: Contract.BroadcastKind = .update
    ) throws -> Contract.Broadcast {
        var broadcast = broadcast(deliveries)
        broadcast.event = event
        broadcast.message = try request()
        return broadcast
    }

    func contents(
        _ event: Contract.Event, _ broadcasts: [Contract.Broadcast], starts: [Contract.AudienceStart] = [],
        previews: [BundleID: ContentPreview] = [:]
    ) -> EventDetail.Contents {
        EventDetail.Contents(
            event: event, version: 1, page: .init(items: broadcasts, nextCursor: "next"), plotted: broadcasts,
            starts: starts, previews: previews)
    }

    func start(_ state: Contract.StartState = .running) -> Contract.AudienceStart {
        var counts = Contract.StartCounts()
        counts.followers = 1_200
        counts.rejected = 2
        counts.ineligible = .init(system: 1, disabled: 1, noToken: 1, tooLate: 1)
        return Contract.AudienceStart(
            bundleId: bundleID.rawValue, environment: .production, state: state, startedAt: Self.now,
            finishedAt: Self.now, counts: counts, byReason: ["BadDeviceToken": 2])
    }

    func match() throws -> EventDetail {
        var gone = delivery(.superseded)
        gone.supersededBy = id.words
        var accepted = delivery(.accepted)
        (accepted.settledAt, accepted.answerMilliseconds) = (Self.now.addingTimeInterval(0.041), 41)
        accepted.apnsUniqueId = text
        var crowd = delivery(.sending)
        (crowd.kind, crowd.counts) = (.tokens, Contract.TokenCounts(FanOut(), .sending))
        var event = event()
        event.start = Contract.Start(
            at: Self.now, until: Self.now, attributesType: text, attributes: try RawJSON(json: "{}"),
            alert: try RawJSON(json: "{}"), restart: false)
        var shown = contents(
            event,
            [
                try message([delivery(.waiting, attempts: 0)]),
                try message([accepted, delivery(.rejected, reason: "BadPriority"), crowd]),
                try message([delivery(.expired, reason: text), gone]),
            ], starts: [start()], previews: [bundleID: preview])
        var scheduled = try message([])
        scheduled.state = .scheduled
        shown.scheduled = [scheduled]
        var end = MessageForm(try request(), isWhole: true, now: Self.now)
        end.isEnd = true
        let refusal = Problem.invalid(text, at: text, text)
        var variants = event
        variants.audiences[0].variant = "de"
        return EventDetail(
            shown, visit("/console/events/derby"),
            composer: Composer(
                variants, end, newest: id.words, refusal: refusal,
                preview: PreviewReading(try rehearsed()),
                asksForEnd: true))
    }

    /// The preview of a message.
    func rehearsed() throws -> Contract.BroadcastPreview {
        let goesAt = Self.now.addingTimeInterval(86_400)
        let part = Contract.AudiencePreview(
            bundleId: bundleID.rawValue, environment: .production, variant: "de", kind: .tokens, priority: 10,
            apnsExpiration: 1_900_000_000, bytes: 1_312, limit: 4_096, payload: try RawJSON(json: #"{"aps": {}}"#),
            preview: .init(compact: text, expanded: text), replaces: [id.words])
        return Contract.BroadcastPreview(
            event: .end, goesAt: goesAt, isScheduled: true, expiresAt: goesAt.addingTimeInterval(900),
            audiences: [part], warnings: [text])
    }

    func organisersPages() throws -> [any ConsolePage] {
        let refusal = Problem.invalid(text, at: text, text)
        let draft = EventForm(fields: FormFields([.init(name: "name", value: text)]))
        return [
            EventDetail(
                contents(event(), [try message([]), try message([])]), visit("/console/events/derby"),
                composer: Composer(event(), MessageForm(try request(), isWhole: false, now: Self.now))),
            NewEvent(draft, apps: [registered()], refusal: refusal),
        ]
    }
}
