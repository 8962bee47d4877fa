internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Hummingbird
internal import JSON
internal import Testing

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

    func apiKey(_ scopes: Set<APIKey.Scope> = [.admin], bound: Bool = false) -> APIKey {
        APIKey(
            id: id, name: text, scopes: scopes, reach: bound ? .only([bundleID]) : .all, prefix: "gs_",
            createdAt: Self.now,
            revokedAt: nil)
    }

    func visit(_ path: String = "/console", query: String = "") -> Visit {
        Visit(key: apiKey(), query: FormFields(query), path: path, parameters: Parameters(), now: Self.now)
    }

    func registered() -> App {
        App(
            bundleID: bundleID, name: text, credentials: Credentials(teamID: "TEAM123456", keyID: "KEY1234567"),
            createdAt: Self.now, updatedAt: Self.now)
    }

    func contentType() throws -> DeclaredContentType {
        let body =
            #"{"check": "refuse", "versions": [{"name": "3.1", "schema": {}}, {"name": \#(JSONText.quoted(text)), "schema": {}}],"#
            + #""rules": {"quiet": ["/clock"],"#
            + #""rings": [{"when": {"increases": "/home"}, "alert": {"title": "Goal"}}]}}"#
        return DeclaredContentType(
            type: try ContentType(bundleID, "MatchAttributes", parsing: Array(body.utf8)), createdAt: Self.now,
            updatedAt: Self.now, version: 1)
    }

    func quota(
        _ byState: [Channel.State: Int] = [.active: 9_600, .creating: 10, .missing: 2, .failed: 1], limit: Int = 10_000,
        unmanaged: Int = 3, alarm: ReconciliationReport.Alarm? = .capabilityOff, isCapabilityOff: Bool = true,
        exceedsAt: Date? = Self.now.addingTimeInterval(3_600)
    ) -> Quota {
        Quota(
            bundleID: bundleID, environment: .production, limit: limit, byState: byState, byStoragePolicy: [:],
            forecast: Forecast(peak: 10_200, peakAt: Self.now.addingTimeInterval(7_200), exceedsAt: exceedsAt),
            apple: .init(count: 9_603, at: Self.now), unmanaged: unmanaged, reconciliationAlarm: alarm,
            isCapabilityOff: isCapabilityOff)
    }

    func event(_ state: Event.State = .live) -> Event {
        let times = Self.now
        return Event(
            specification: EventSpecification(
                key: key, name: text, kind: text, startsAt: times, endsAt: times.addingTimeInterval(7_200),
                channelsOpenAt: times.addingTimeInterval(-3_600),
                audiences: [
                    Audience(bundleID: bundleID, environment: .production, storagePolicy: .noMessageStored),
                    Audience(bundleID: bundleID, environment: .development, storagePolicy: .noMessageStored),
                ]),
            state: state,
            channels: [
                .init(state: .active, channelID: text),
                .init(state: .failed, reason: "BroadcastFeatureNotEnabled", nextAttemptAt: times),
            ],
            createdAt: times, updatedAt: times)
    }

    func delivery(_ state: Delivery.State, reason: String? = nil, attempts: Int = 1) -> Delivery {
        Delivery(
            bundleID: bundleID, environment: .production, channelID: text, state: state, attempts: attempts,
            priority: .immediate, apnsExpiration: 0, timestamp: nil, apnsRequestID: id, apnsUniqueID: nil,
            reason: reason, nextAttemptAt: nil, settledAt: nil)
    }

    func broadcast(_ deliveries: [Delivery]) -> Broadcast {
        Broadcast(
            id: id, eventKey: key, event: .update, acceptedAt: Self.now, sendAt: Self.now, isScheduled: false,
            deliveries: deliveries, warnings: [text], by: "key:" + text)
    }

    func channel(_ state: Channel.State = .failed, reason: String? = "quota-exhausted") -> Channel {
        Channel(
            id: id, bundleID: bundleID, environment: .production, channelID: text,
            storagePolicy: .mostRecentMessageStored, state: state, eventKey: key, label: text, reason: reason,
            attempts: 1, nextAttemptAt: Self.now, createdAt: Self.now)
    }

    /// A reconciliation's report in the form in which it is stored.
    func report(applied: Bool = false, alarm: ReconciliationReport.Alarm? = nil, found: Int = 1) throws -> [UInt8] {
        let entry = LedgerSnapshot.Entry(
            id: id, channelID: text, state: .active, storagePolicy: .noMessageStored, eventKey: key, changedAt: Self.now
        )
        let stray = UnmanagedChannel(channelID: text, firstSeenAt: Self.now, storagePolicy: .noMessageStored)
        let actions: [ReconciliationReport.Action] = [
            .init(.markMissing(entry), done: applied, detail: text), .init(.adopt(stray), done: applied),
        ]
        let report = ReconciliationReport(
            id: id, bundleID: bundleID, environment: .production, actor: text, startedAt: Self.now,
            finishedAt: Self.now, applied: applied, apple: 2, ledger: 2, matched: 1,
            missing: Array(repeating: entry, count: found), unmanaged: Array(repeating: stray, count: found),
            actions: actions, alarm: alarm, notes: [text])
        return JSONWriter.text(Contract.Reconciliation(report))
    }

    func entry() -> AuditEntry {
        AuditEntry(
            id: 1, at: Self.now, actor: "key:" + text, keyID: id, action: .channelRefused,
            subject: .init(
                bundleID: bundleID, environment: .production, channel: id, channelID: text, eventKey: key),
            reason: text, signingKey: "KEY1234567", answer: APNsRecord(status: 400, reason: text, requestID: nil))
    }
}
