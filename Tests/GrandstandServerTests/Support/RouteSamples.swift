internal import APNsWire
internal import ContractKit
internal import Foundation
internal import GrandstandContract
internal import Hummingbird
internal import JSON
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

/// Values for pages. `text` stands for all texts that people or Apple choose.
struct Samples {
    var text = "Derby"

    static let now = Date(timeIntervalSince1970: 1_795_305_600)

    let bundleID: BundleID
    let key: EventKey
    let id = UUID(uuidString: "11111111-2222-4333-8444-555555555555") ?? UUID()

    init(text: String = "Derby") throws {
        self.text = text
        bundleID = try #require(BundleID(rawValue: "com.example.Stadium"))
        key = try #require(EventKey(rawValue: "derby"))
    }

    var app: AppEnvironment { AppEnvironment(bundleID: bundleID, environment: .production) }

    func apiKey(bound: Bool = false) -> APIKey {
        APIKey(id: id, name: text, scopes: [.admin], reach: bound ? .only([bundleID]) : .all)
    }

    func visit(_ path: String = "/console", query: String = "") -> Visit {
        Visit(
            key: apiKey(), query: QueryParameters(FormFields(query)), path: path,
            parameters: ["bundleId": bundleID.rawValue[...], "environment": "production", "key": "derby", "id": "1"],
            now: Self.now, perform: { _ in throw NotScripted() })
    }

    func quota(
        _ byState: [Channel.State: Int] = [.active: 9_600, .creating: 10, .missing: 2, .failed: 1], limit: Int = 10_000,
        unmanaged: Int = 3, alarm: Contract.ReconciliationAlarm? = .capabilityOff, isCapabilityOff: Bool = true,
        exceedsAt: Date? = Self.now.addingTimeInterval(3_600)
    ) -> Quota {
        Quota(
            bundleID: bundleID, environment: .production, limit: limit, byState: byState, byStoragePolicy: [:],
            forecast: Forecast(peak: 10_200, peakAt: Self.now.addingTimeInterval(7_200), exceedsAt: exceedsAt),
            apple: .init(count: 9_603, at: Self.now), unmanaged: unmanaged, reconciliationAlarm: alarm,
            isCapabilityOff: isCapabilityOff)
    }

    func event(_ state: Contract.EventState = .live) -> Contract.Event {
        func audience(_ environment: Contract.Environment, _ channel: Contract.AudienceChannel)
            -> Contract.EventAudience
        {
            Contract.EventAudience(
                bundleId: bundleID.rawValue, environment: environment, storagePolicy: .noMessageStored,
                delivery: .channel, channel: channel)
        }
        let times = Self.now
        return Contract.Event(
            key: key.rawValue, name: text, kind: text, state: state, startsAt: times,
            endsAt: times.addingTimeInterval(7_200), channelsOpenAt: times.addingTimeInterval(-3_600),
            audiences: [
                audience(.production, .init(state: .active, channelId: text)),
                audience(
                    .development, .init(state: .failed, reason: "BroadcastFeatureNotEnabled", nextAttemptAt: times)),
            ], metadata: RawJSON(unchecked: "{}".utf8), topics: [], createdAt: times, updatedAt: times)
    }

    func delivery(_ state: Contract.DeliveryState, reason: String? = nil, attempts: Int = 1) -> Contract.Delivery {
        Contract.Delivery(
            kind: .channel, bundleId: bundleID.rawValue, environment: .production, channelId: text, state: state,
            attempts: attempts, priority: 10, apnsExpiration: 0, apnsRequestId: id.text, reason: reason)
    }

    func broadcast(_ deliveries: [Contract.Delivery]) -> Contract.Broadcast {
        var broadcast = Contract.Broadcast(
            id: id.text, eventKey: key.rawValue, event: .update, state: .queued, acceptedAt: Self.now,
            sendAt: Self.now, by: "key:" + text, counts: [:], deliveries: [], warnings: [text], source: .broadcast)
        broadcast.set(deliveries, isScheduled: false, isCancelled: false)
        return broadcast
    }
}

/// Values for organisers' pages.
extension Samples {
    var preview: ContentPreview {
        ContentPreview(.init(compact: "{{home}} – {{away}}", expanded: "{{minute}}′ {{t}}"))
    }

    /// A message with every member that it may have.
    func request() throws -> Contract.BroadcastDraft {
        let text = text.quotedJSON
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
        previews: [String: ContentPreview] = [:]
    ) -> EventDetail.Contents {
        EventDetail.Contents(
            event: event, version: 1, page: .init(items: broadcasts, nextCursor: "next"), newest: broadcasts,
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
        gone.supersededBy = id.text
        var accepted = delivery(.accepted)
        (accepted.settledAt, accepted.answerMilliseconds) = (Self.now.addingTimeInterval(0.041), 41)
        accepted.apnsUniqueId = text
        var crowd = delivery(.sending)
        (crowd.kind, crowd.counts) = (.tokens, Contract.TokenCounts(TokenProgress(), .sending))
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
            ], starts: [start()], previews: [bundleID.rawValue: preview])
        var scheduled = try message([])
        (scheduled.id, scheduled.state) = (UUID().text, .scheduled)
        shown.scheduled = [scheduled]
        var end = MessageForm(try request(), isWhole: true, now: Self.now)
        end.isEnd = true
        let refusal = Problem.invalid(text, at: text, text)
        var variants = event
        variants.audiences[0].variant = "de"
        return EventDetail(
            shown, visit("/console/events/derby"),
            composer: Composer(
                variants, end, newest: id.text, refusal: refusal,
                preview: MessageEffect(try rehearsed()),
                asksForEnd: true))
    }

    /// The preview of a message.
    func rehearsed() throws -> Contract.BroadcastPreview {
        try JSONValue(decoding: json(try #require(OpenAPIDocument.served.schema("BroadcastPreview"))).utf8).decode()
    }
}

/// The tested code made a call that it must not make.
struct NotScripted: Error {}
