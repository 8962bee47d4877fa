package import APNsWire
package import FoundationEssentials

/// One app, environment and storage policy an event is shown to; each audience of an event gets one channel.
package struct Audience: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    package var storagePolicy: StoragePolicy

    package init(bundleID: BundleID, environment: APNsEnvironment, storagePolicy: StoragePolicy) {
        self.bundleID = bundleID
        self.environment = environment
        self.storagePolicy = storagePolicy
    }

    /// An audience without its policy: an event has at most one per app and environment.
    package struct Selector: Sendable, Hashable {
        package var bundleID: BundleID
        package var environment: APNsEnvironment

        package init(bundleID: BundleID, environment: APNsEnvironment) {
            self.bundleID = bundleID
            self.environment = environment
        }
    }

    package var selector: Selector { Selector(bundleID: bundleID, environment: environment) }

    /// An audience's channel as its organiser sees it.
    package struct ChannelStatus: Sendable, Hashable {
        package enum State: String, Sendable, Hashable, CaseIterable {
            /// `channelsOpenAt` has not come yet.
            case waiting
            /// Asked of Apple, or about to be.
            case pending
            case active
            case retiring
            case deleted
            case failed
        }

        package var state: State
        package var channelID: String?
        package var reason: String?
        package var nextAttemptAt: Date?

        /// Reads the status off the audience's channel, if it has one yet.
        package init(channel: Channel?, channelsOpenAt: Date?, now: Date) {
            guard let channel else {
                let held = channelsOpenAt.map { $0 > now } ?? false
                self.init(state: held ? .waiting : .pending)
                return
            }
            let state: State =
                switch channel.state {
                case .creating, .missing: .pending
                case .active: .active
                case .retiring, .deleting: .retiring
                case .deleted: .deleted
                case .failed: .failed
                }
            self.init(
                state: state, channelID: channel.channelID, reason: channel.reason,
                nextAttemptAt: channel.nextAttemptAt)
        }

        package init(
            state: State, channelID: String? = nil, reason: String? = nil, nextAttemptAt: Date? = nil
        ) {
            self.state = state
            self.channelID = channelID
            self.reason = reason
            self.nextAttemptAt = nextAttemptAt
        }
    }
}
