internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Logging

@testable internal import GrandstandService

/// Values for tests that do not care which.
enum Sample {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The time of every clock here, unless a test moves it.
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    static let bundleID = name("com.example.Stadium")

    static func name(_ text: String) -> BundleID {
        guard let bundleID = BundleID(rawValue: text) else { preconditionFailure("\(text) is no bundle ID") }
        return bundleID
    }

    static func address(_ bundleID: BundleID = bundleID) -> APNsAddress {
        APNsAddress(
            bundleID: bundleID, environment: .production,
            credentials: Credentials(teamID: "TEAM567890", keyID: "KEY4567890"))
    }

    static func delivery(_ id: Int, lane: Int? = nil) -> ClaimedDelivery {
        ClaimedDelivery(
            id: id, lane: lane ?? id, address: address(),
            message: BroadcastMessage(
                channelID: "channel-\(id)", body: [], priority: .immediate, expiration: 0, requestID: UUID()),
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
