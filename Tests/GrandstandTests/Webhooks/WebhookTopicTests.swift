internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Testing

/// The posted body, byte for byte.
struct WebhookTopicTests {
    private static let at = Date(timeIntervalSince1970: 1_763_757_600)

    private static func channel(_ id: String, reason: String? = nil) throws -> Channel {
        Channel(
            id: try uuid(id), bundleID: try #require(BundleID(rawValue: "com.example.Goal")), environment: .production,
            channelID: "apple/\(id)", storagePolicy: .noMessageStored, state: .active,
            eventKey: EventKey(rawValue: "derby"), label: "not told", reason: reason, attempts: 3,
            nextAttemptAt: at, createdAt: at)
    }

    private static func uuid(_ text: String) throws -> UUID {
        try #require(UUID(uuidString: "00000000-0000-0000-0000-00000000000\(text)"))
    }

    /// The `data` of the message. Before it is returned, the type and the time of the message are checked.
    private static func data(_ topic: WebhookTopic, _ facts: WebhookFacts) throws -> String? {
        guard let bytes = try topic.message(facts, at: at) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let head = #"{"type":"\#(topic.rawValue)","timestamp":"2025-11-21T20:40:00.000Z","data":"#
        #expect(text.hasPrefix(head))
        #expect(text.hasSuffix("}"))
        return String(text.dropFirst(head.count).dropLast())
    }

    private static func detail(_ text: String) throws -> WebhookFacts {
        .detail(try JSONValue(parsing: Array(text.utf8)))
    }

    @Test func `each message has its data, byte for byte`() throws {
        let place = #""bundleId":"com.example.Goal","environment":"production","#
        let identity =
            #""id":"00000000-0000-0000-0000-000000000001","channelId":"apple/1",\#(place)"storagePolicy":"noMessageStored","#
        let channel = try Self.channel("1", reason: "gone")
        let settled = SettledBroadcast(
            id: try Self.uuid("1"), event: .update, acceptedAt: Self.at, counts: [.rejected: 1, .accepted: 2],
            eventKey: EventKey(rawValue: "derby"), channel: nil, settledAt: Self.at, reasons: [("BadPriority", 1)])
        let quota = Quota(
            bundleID: try #require(BundleID(rawValue: "com.example.Goal")), environment: .production, limit: 10,
            byState: [.active: 7, .creating: 1], byStoragePolicy: [:],
            forecast: Forecast(peak: 8, peakAt: Self.at, exceedsAt: nil), unmanaged: 3)
        let view = String(decoding: JSONWriter.text(Contract.Quota(quota)), as: UTF8.self)
        let app = #""bundle_id":"com.example.Goal","environment":"production""#
        let messages: [(WebhookTopic, WebhookFacts, String)] = [
            (
                .channelMissing, .channel(channel, replaced: nil), #"{\#(identity)"eventKey":"derby","reason":"gone"}"#
            ),
            (
                .channelReplaced, .channel(channel, replaced: (id: try Self.uuid("2"), channelID: "apple/2")),
                #"{\#(identity)"eventKey":"derby","replaced":"#
                    + #"{"id":"00000000-0000-0000-0000-000000000002","channelId":"apple/2"}}"#
            ),
            // The counts are in the order of the states.
            (
                .broadcastSettled, .broadcast(settled),
                #"{"id":"00000000-0000-0000-0000-000000000001","eventKey":"derby","channel":null,"event":"update","#
                    + #""state":"done","acceptedAt":"2025-11-21T20:40:00.000Z","settledAt":"2025-11-21T20:40:00.000Z","#
                    + #""counts":{"accepted":2,"rejected":1},"reasons":{"BadPriority":1}}"#
            ),
            (
                .eventState, try Self.detail(#"{"event_key":"derby","by":"key:desk","state":"ended"}"#),
                #"{"eventKey":"derby","state":"ended","by":"key:desk"}"#
            ),
            (
                .quotaLevel, try Self.detail(#"{"quota":\#(view),"previousLevel":"ok"}"#),
                #"{\#(place)"level":"warning","previousLevel":"ok","#
                    + #""limit":10,"used":7,"reserved":1,"available":2,"unmanaged":3}"#
            ),
            (
                .capabilityOff, try Self.detail("{\(app),\"evidence\":\"BroadcastFeatureNotEnabled\"}"),
                #"{\#(place)"evidence":"BroadcastFeatureNotEnabled"}"#
            ),
            (
                .capabilityOff, try Self.detail("{\(app)}"),
                #"{\#(place)"evidence":"Apple's list has none of the channels that are known here"}"#
            ),
            (
                .webhookTest, .test(webhook: try Self.uuid("1"), by: "key ops"),
                #"{"webhook":"00000000-0000-0000-0000-000000000001","by":"key ops"}"#
            ),
        ]
        for (topic, facts, data) in messages { #expect(try Self.data(topic, facts) == data) }
    }

    /// Facts with a reconciliation report that has these lists.
    private static func report(
        missing: String = "", unmanaged: String = "", actions: String = "", alarm: String = "null",
        standing: String = "null"
    ) throws -> WebhookFacts {
        try detail(
            #"{"report":{"id":"x","bundleId":"a","environment":"production","actor":"server","#
                + #""startedAt":"2025-11-21T20:40:00.000Z","finishedAt":"2025-11-21T20:40:01.000Z","applied":true,"#
                + #""apple":4,"ledger":3,"matched":3,"missing":[\#(missing)],"unmanaged":[\#(unmanaged)],"#
                + #""actions":[\#(actions)],"alarm":\#(alarm),"notes":[]},"standing":\#(standing)}"#)
    }

    @Test func `a reconciliation is reported if it says something that none before it said`() throws {
        let old = #"{"channelId":"b","firstSeenAt":"2025-11-21T20:39:59.999Z"}"#
        let new = #"{"channelId":"c","firstSeenAt":"2025-11-21T20:40:00.000Z"}"#
        let (incomplete, off) = (#""list-incomplete""#, #""capability-off""#)
        for known in [
            try Self.report(), try Self.report(unmanaged: old), try Self.report(standing: incomplete),
            try Self.report(alarm: incomplete, standing: incomplete),
        ] { #expect(try Self.data(.reconciliationFound, known) == nil) }
        for found in [
            try Self.report(missing: "{}"), try Self.report(actions: "{}"),
            try Self.report(alarm: off, standing: incomplete),
        ] { #expect(try Self.data(.reconciliationFound, found) != nil) }
        #expect(
            try Self.data(.reconciliationFound, Self.report(unmanaged: "\(old),\(new)"))
                == #"{"id":"x","bundleId":"a","environment":"production","startedAt":"2025-11-21T20:40:00.000Z","#
                + #""finishedAt":"2025-11-21T20:40:01.000Z","applied":true,"apple":4,"ledger":3,"missing":0,"#
                + #""unmanaged":2,"newUnmanaged":1,"actions":0,"alarm":null}"#)
    }
}
