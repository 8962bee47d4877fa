internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Logging

@testable internal import GrandstandService

/// Values for tests in which the exact value does not matter.
enum Sample {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The time of every clock, unless a test moves it.
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    static let bundleID = name("com.example.Stadium")

    /// A bundle ID without capitals. All APIs of APNs accept the same spelling of it.
    static let plainID = name("com.example.stadium")

    static func rates(_ environment: APNsEnvironment = .production) -> Dispatcher.Rates {
        Dispatcher.Rates(
            broadcasts: SendRates(environment: environment, api: .broadcast, logger: logger),
            devices: SendRates(environment: environment, api: .device, logger: logger))
    }

    static func management(
        _ gateway: FakeGateway, _ quirks: FakeQuirks = FakeQuirks(), now: @escaping @Sendable () -> Date = { now }
    ) -> ManagementCalls {
        ManagementCalls(gateway: gateway, quirks: quirks, now: now, logger: logger)
    }

    static func name(_ text: String) -> BundleID {
        guard let bundleID = BundleID(rawValue: text) else { preconditionFailure("\(text) is no bundle ID") }
        return bundleID
    }

    static func address(_ bundleID: BundleID = bundleID) -> APNsAddress {
        APNsAddress(
            bundleID: bundleID, environment: .production,
            credentials: Credentials(teamID: "TEAM567890", keyID: "KEY4567890"))
    }

    static func delivery(_ id: Int, lane: Int? = nil, of app: BundleID = bundleID) -> ClaimedDelivery {
        ClaimedDelivery(
            id: id, lane: lane ?? id, address: address(app), storagePolicy: .mostRecentMessageStored,
            message: .broadcast(
                BroadcastMessage(
                    channelID: "channel-\(id)", body: [], priority: .immediate, expiration: 0, requestID: UUID())),
            attempts: 1, expiresAt: now.addingTimeInterval(3_600))
    }

    static func task(
        _ state: Channel.State = .creating, channelID: String? = nil, bundleID: BundleID = bundleID, attempts: Int = 1
    ) -> ChannelTask {
        ChannelTask(
            channel: Channel(
                id: UUID(), bundleID: bundleID, environment: .production, channelID: channelID,
                storagePolicy: .noMessageStored, state: state, eventKey: nil, label: nil, reason: nil,
                attempts: attempts,
                nextAttemptAt: nil, createdAt: now),
            address: address(bundleID))
    }

    static func refusal(_ reason: APNsReason, retryAfter: Int? = nil) -> APNsRefusal {
        APNsRefusal(status: reason.status ?? 400, reason: reason, retryAfter: retryAfter)
    }
}
