internal import Foundation
internal import GrandstandClient

/// Every call of the client, about the same things each.
struct CallTable {
    struct Entry {
        var operationId: String
        var method: String
        var path: String
        var query: Set<String>
        var request: GrandstandClient.Request
        var value: Any.Type
    }

    private(set) var entries: [Entry] = []
    private typealias Client = GrandstandClient

    private static let app = Client.AppEnvironment("com.example.Stadium", .production)
    private static let identity = Client.InstallationIdentity(
        app: app, installationId: "INSTALLATION", secret: "SECRET")

    private mutating func add<Value>(_ call: Client.Call<Value>) async throws {
        let seen = ScriptedTransport { _ in .init(status: 500) }
        let client = GrandstandClient(
            server: URL(filePath: "/"), key: nil, transport: seen, retry: .never)
        _ = try await client.exchange(call)
        guard let request = seen.requests.first else { return }
        entries.append(
            Entry(
                operationId: call.operationId, method: call.method.rawValue, path: call.path,
                query: Set(call.query.map(\.name)), request: request, value: Value.self))
    }

    init() async throws {
        let app = Self.app
        let identity = Self.identity
        let raw = try RawJSON(json: "{}")
        let now = Date(timeIntervalSince1970: 1_795_293_900)
        try await add(.listApps().page(limit: 1, after: "c"))
        try await add(.listAppNames().page(limit: 1, after: "c"))
        try await add(.putApp("com.example.Stadium", .init(name: "n", teamId: "t", keyId: "k")))
        try await add(.getApp("com.example.Stadium"))
        try await add(.getAppName("com.example.Stadium"))
        try await add(.deleteApp("com.example.Stadium"))
        try await add(.putQuirk("management-path", of: app, value: "v"))
        try await add(.createChannel(in: app, storagePolicy: .noMessageStored, label: "l"))
        try await add(.importChannel("c", in: app, label: "l", eventKey: "e", variant: "v"))
        try await add(.getChannel("ID", in: app, verify: true))
        try await add(
            .listChannels(
                in: app, state: .active, storagePolicy: .noMessageStored, eventKey: "e", channelId: "c", managed: true
            ).page(limit: 1, after: "c"))
        try await add(.deleteChannel("ID", in: app, force: true))
        try await add(.broadcastToChannel("ID", in: app, .init(event: .update)))
        try await add(.push(to: app, .init(token: "80", .init(event: .update))))
        try await add(.getPush("ID"))
        try await add(.cancelPush("ID"))
        try await add(.reconcile(app, apply: true, adopt: true, deleteUnmanaged: true, recreate: true))
        try await add(.listReconciliations(of: app).page(limit: 1, after: "c"))
        try await add(.getReconciliation("ID", of: app))
        try await add(
            .listEvents(
                state: .live, kind: "k", bundleId: "b", from: now, to: now, overdue: true
            ).page(limit: 1, after: "c"))
        try await add(.putEvent("derby", .init(name: "n", audiences: [])))
        try await add(.getEvent("derby"))
        try await add(.cancelEvent("derby", end: true))
        try await add(.patchEvent("derby", raw))
        try await add(.reopenEvent("derby", audiences: []))
        try await add(.startEvent("derby", dryRun: true))
        try await add(.getStart("derby"))
        try await add(.stopStart("derby"))
        try await add(.listTopics(in: app).page(limit: 1, after: "c"))
        try await add(.streamEvent("derby"))
        try await add(.broadcast(to: "derby", .init(event: .update, contentState: raw)))
        try await add(.listBroadcasts(of: "derby", scheduled: true).page(limit: 1, after: "c"))
        try await add(.broadcastMany([.init(eventKey: "derby", .init(event: .end))]))
        try await add(.previewBroadcast(to: "derby", .init(event: .update)))
        try await add(.getBroadcast("ID"))
        try await add(.cancelBroadcast("ID"))
        try await add(.lookup("derby", in: app, variant: "de", contentState: true))
        try await add(
            .lookupList(
                in: app, topic: "t", from: now, to: now, state: .live, variant: "de"
            ).page(limit: 1, after: "c"))
        try await add(.lookupMany(["derby"], in: app, variant: "de"))
        try await add(.putInstallation(identity, .init(systemVersion: "18.4")))
        try await add(.getInstallation(identity))
        try await add(.forgetInstallation(identity))
        try await add(
            .putActivity(
                "ACTIVITY", of: identity, .init(eventKey: "derby", attributesType: "Match", state: .active)))
        try await add(.forgetActivity("ACTIVITY", of: identity))
        try await add(.recordReceipts([], of: identity, sentAt: now))
        try await add(.installationStatistics(of: app))
        try await add(.eventReceipts("derby"))
        try await addSeason()
    }

    private mutating func addSeason() async throws {
        let now = Date(timeIntervalSince1970: 1_795_293_900)
        try await add(.listCalendars().page(limit: 1, after: "c"))
        try await add(.putCalendar("bl1", .init(format: .ics, eventKey: "{uid}", audiences: [])))
        try await add(.getCalendar("bl1"))
        try await add(.deleteCalendar("bl1"))
        try await add(.previewCalendar("bl1", .ics(Data("x".utf8)), cancelAll: true))
        try await add(.syncCalendar("bl1", .csv(Data("x".utf8)), cancelAll: true))
        try await add(.listQuotas().page(limit: 1, after: "c"))
        try await add(
            .listQuotaHistory(bundleId: "b", environment: .production, from: now, to: now, step: "1h"))
        try await add(
            .listAuditLog(
                actor: "a", action: "a", bundleId: "b", from: now, to: now
            ).page(limit: 1, after: "c"))
        try await add(.createWebhook(.init(url: "u", topics: [.quotaLevel])))
        try await add(.listWebhooks().page(limit: 1, after: "c"))
        try await add(.getWebhook("ID"))
        try await add(.putWebhook("ID", .init(url: "u", topics: [.quotaLevel])))
        try await add(.deleteWebhook("ID"))
        try await add(.rotateWebhookSecret("ID", overlapSeconds: 1))
        try await add(.testWebhook("ID"))
        try await add(
            .listWebhookDeliveries(of: "ID", state: .failed, topic: .quotaLevel).page(limit: 1, after: "c"))
        try await add(.getWebhookDelivery("DELIVERY", of: "ID"))
        try await add(.replayWebhookDelivery("DELIVERY", of: "ID"))
        try await add(.createKey(name: "n", scopes: [.lookup], bundleId: "b", bundleIds: ["b"], expiresAt: now))
        try await add(.listKeys().page(limit: 1, after: "c"))
        try await add(.getKey("ID"))
        try await add(.revokeKey("ID"))
        try await add(.rotateKey("ID", overlapSeconds: 1))
        try await add(.health())
        try await add(.readiness())
        try await add(.metrics())
        try await add(.contract())
    }
}
