internal import APNsWire
internal import Foundation
internal import Grandstand

/// Values that the fake ports return in tests of routes.
enum Sample {
    static let id = known(UUID(uuidString: "11111111-2222-4333-8444-555555555555"))
    /// An ID that no object has.
    static let otherID = known(UUID(uuidString: "99999999-2222-4333-8444-555555555555"))
    static let stadium = known(BundleID(rawValue: "com.example.Stadium"))
    static let other = known(BundleID(rawValue: "com.example.Other"))
    static let derby = known(EventKey(rawValue: "derby"))

    static func app(_ bundleID: BundleID = stadium) -> App {
        App(
            bundleID: bundleID, name: "Stadium", credentials: Credentials(teamID: "TEAM123456", keyID: "KEY1234567"),
            version: 7)
    }

    /// The address for calls to APNs about the sample app.
    static let address: APNsAddress = {
        var address = app().address(in: .production)
        return address
    }()

    static func channel(_ state: Channel.State = .active) -> Channel {
        Channel(
            id: id, bundleID: stadium, environment: .production, channelID: "abc==", storagePolicy: .noMessageStored,
            state: state, eventKey: nil, label: "gate 7", reason: nil, attempts: 1, nextAttemptAt: nil,
            createdAt: RouteWorld.now)
    }

    /// A leased task. Apple's list of channels was read a moment before.
    static func task(_ state: Channel.State) -> ChannelTask {
        ChannelTask(channel: channel(state), address: address, listAskedAt: RouteWorld.now)
    }

    static func quota(_ bundleID: BundleID, _ environment: APNsEnvironment) -> Quota {
        Quota(
            bundleID: bundleID, environment: environment, limit: 100, byState: [.active: 95, .creating: 1],
            byStoragePolicy: [.noMessageStored: 96],
            forecast: Forecast(peak: 96, peakAt: RouteWorld.now, exceedsAt: nil),
            apple: .init(count: 95, at: RouteWorld.now))
    }

    static func event(_ apps: [BundleID] = [stadium]) -> Event {
        Event(
            specification: EventSpecification(
                key: derby, name: "Derby",
                audiences: apps.map {
                    Audience(bundleID: $0, environment: .production, storagePolicy: .noMessageStored)
                }),
            state: .live, channels: apps.map { _ in .init(state: .active, channelID: "abc==") },
            createdAt: RouteWorld.now, updatedAt: RouteWorld.now, version: 3)
    }

    static func webhook(_ topics: Set<WebhookTopic> = [.broadcastSettled], of apps: BundleID...) -> Webhook {
        Webhook(
            id: id,
            draft: WebhookDraft(
                url: known(WebhookURL(rawValue: "https://hooks.example.com/x")), topics: topics,
                reach: AppReach(of: apps.isEmpty ? nil : apps)),
            state: .enabled, reason: nil, failingSince: nil, previousSecretUntil: nil, createdAt: RouteWorld.now,
            updatedAt: RouteWorld.now, version: 5)
    }

    static let delivery = WebhookDelivery(
        id: id, message: id, topic: .broadcastSettled, state: .failed, attempts: 2, createdAt: RouteWorld.now,
        nextAttemptAt: nil, settledAt: RouteWorld.now, status: 500, reason: "HTTP 500")

    static func known<Value>(_ value: Value?) -> Value {
        guard let value else { preconditionFailure("a sample value is not valid for its type") }
        return value
    }
}
