internal import APNsWire
internal import Foundation
internal import Grandstand
internal import JSON

@testable internal import GrandstandServer

/// Values for organisers' pages.
extension Samples {
    var preview: ContentPreview {
        ContentPreview(AppPreview(compact: "{{home}} – {{away}}", expanded: "{{minute}}′ {{t}}"))
    }

    /// A message with every member that it may have.
    func request(_ content: String = #"{"home": 1, "away": 0}"#) throws -> BroadcastRequest {
        let text = JSONText.quoted(text)
        var request = BroadcastRequest(
            payload: BroadcastPayload(
                event: .update, contentState: Array(#"{"home": 1, "away": 0, "t": \#(text)}"#.utf8),
                alert: Array(#"{"title": \#(text), "body": "b"}"#.utf8), staleDate: 1_900_000_000),
            priority: .immediate, expiresIn: 300,
            audiences: [AudienceSelector(bundleID: bundleID, environment: .production)])
        request.byVariant = [
            try variant("de"): .init(contentState: Array("{}".utf8), alert: Array(#"{"title": "x"}"#.utf8))
        ]
        return request
    }

    func variant(_ text: String) throws -> Variant {
        guard let variant = Variant(rawValue: text) else { throw Problem(.internalError, text) }
        return variant
    }

    /// A message and its deliveries.
    func message(_ deliveries: [Delivery], event: BroadcastPayload.Event = .update) throws -> Broadcast {
        var broadcast = broadcast(deliveries)
        broadcast.event = event
        broadcast.request = try request()
        return broadcast
    }

    func contents(
        _ event: Event, _ broadcasts: [Broadcast], starts: [AudienceStart] = [],
        previews: [BundleID: ContentPreview] = [:]
    ) -> EventDetail.Contents {
        EventDetail.Contents(
            event: event, page: Page(items: broadcasts, nextCursor: "next"), newest: broadcasts, plotted: broadcasts,
            starts: starts, previews: previews)
    }

    func start(_ state: StartReport.State = .running) -> AudienceStart {
        var counts = StartReport.Counts()
        counts.followers = 1_200
        counts.rejected = 2
        for why in StartForm.Ineligible.allCases { counts.ineligible[why] = 1 }
        return (
            Audience(bundleID: bundleID, environment: .production, storagePolicy: .noMessageStored),
            StartReport(
                state: state, startedAt: Self.now, finishedAt: Self.now, counts: counts, byReason: ["BadDeviceToken": 2]
            )
        )
    }

    func match() throws -> EventDetail {
        var gone = delivery(.superseded)
        gone.supersededBy = id
        var accepted = delivery(.accepted)
        accepted.settledAt = Self.now.addingTimeInterval(0.041)
        accepted.apnsUniqueID = text
        var crowd = delivery(.sending)
        crowd.counts = Delivery.Counts()
        var event = event()
        event.specification.start = StartDeclaration(
            at: Self.now, until: Self.now, attributesType: text, attributes: Array("{}".utf8), alert: Array("{}".utf8))
        var shown = contents(
            event,
            [
                try message([delivery(.waiting, attempts: 0)]),
                try message([accepted, delivery(.rejected, reason: "BadPriority"), crowd]),
                try message([delivery(.expired, reason: text), gone]),
            ], starts: [start()], previews: [bundleID: preview])
        var scheduled = try message([])
        scheduled.isScheduled = true
        shown.scheduled = Page(items: [scheduled], nextCursor: "next")
        var end = MessageForm(try request(), isWhole: true, now: Self.now)
        end.isEnd = true
        let refusal = APIProblem(status: 422, title: text, detail: text, faults: [.init(pointer: text, detail: text)])
        let fault = APIProblem.Fault(pointer: text, detail: text)
        var variants = event
        variants.specification.audiences[0].id.variant = try variant("de")
        return EventDetail(
            shown, visit("/console/events/derby"),
            composer: Composer(
                variants, end, newest: id, faults: [fault], refusal: refusal, preview: PreviewReading(try rehearsed()),
                asksForEnd: true))
    }

    /// The result of rehearsing a message.
    func rehearsed() throws -> RenderedRehearsal {
        var audience = Audience(bundleID: bundleID, environment: .production, storagePolicy: .noMessageStored)
        audience.id.variant = try variant("de")
        let goesAt = Self.now.addingTimeInterval(86_400)
        let part = BroadcastRehearsal.Part(
            audience: audience, kind: .crowd, payload: try request().payload, priority: .immediate,
            apnsExpiration: 1_900_000_000, bytes: 1_312, replaces: [id])
        return RenderedRehearsal(
            rehearsal: BroadcastRehearsal(
                event: .end, goesAt: goesAt, isScheduled: true, expiresAt: goesAt.addingTimeInterval(900),
                warnings: [text], parts: [part]), previews: [bundleID: preview])
    }

    func organisersPages() throws -> [any ConsolePage] {
        let refusal = APIProblem(status: 422, title: text, detail: text, faults: [.init(pointer: text, detail: text)])
        let fault = APIProblem.Fault(pointer: text, detail: text)
        var draft = EventForm()
        draft.name = text
        return [
            EventDetail(
                contents(event(), []), visit("/console/events/derby"),
                composer: Composer(event(), MessageForm(try request(), isWhole: false, now: Self.now))),
            Question(
                text, [text], facts: [Fact(text, .quoted(text))], choices: [.init("Do it")], irreversible: true,
                action: "/console/x", back: (text, "/console")),
            NewEvent(draft, apps: [registered()], faults: [fault], refusal: refusal),
        ]
    }
}
