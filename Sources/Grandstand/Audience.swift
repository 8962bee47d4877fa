package import APNsWire
package import FoundationEssentials

/// The people an event is shown to, with one channel at a time: `id` says which audience of its event it is, the rest
/// are attributes, which may change while it stays the same audience.
package struct Audience: Sendable, Hashable {
    /// The identity of an audience within its event, which has at most one with each.
    package struct ID: Sendable, Hashable {
        package var bundleID: BundleID
        package var environment: APNsEnvironment
        /// `nil`: the audience of its app and environment without one, whatever others there are.
        package var variant: Variant?

        package init(bundleID: BundleID, environment: APNsEnvironment, variant: Variant? = nil) {
            self.bundleID = bundleID
            self.environment = environment
            self.variant = variant
        }

        /// For texts: "com.example.Stadium in production for variant de".
        package var words: String {
            "\(bundleID) in \(environment.rawValue)\(variant.map { " for variant \($0)" } ?? "")"
        }
    }

    package var id: ID
    /// Of its channel. A channel has one for ever, so another policy is another channel.
    package var storagePolicy: StoragePolicy
    /// How its activities are reached.
    package var delivery: Delivery
    /// Of its messages, where a broadcast says none; `nil`: as the message is.
    package var priority: APNsPriority?
    /// The name of the content type of its messages; `nil`: its event's, and without that its app's only one.
    package var content: String?

    package init(
        id: ID, storagePolicy: StoragePolicy, delivery: Delivery = .channel, priority: APNsPriority? = nil,
        content: String? = nil
    ) {
        self.content = content
        self.id = id
        self.storagePolicy = storagePolicy
        self.delivery = delivery
        self.priority = priority
    }

    package init(
        bundleID: BundleID, environment: APNsEnvironment, storagePolicy: StoragePolicy, delivery: Delivery = .channel
    ) {
        self.init(
            id: ID(bundleID: bundleID, environment: environment), storagePolicy: storagePolicy, delivery: delivery)
    }

    package var bundleID: BundleID { id.bundleID }
    package var environment: APNsEnvironment { id.environment }
    package var variant: Variant? { id.variant }
    package var app: AppEnvironment { AppEnvironment(bundleID: bundleID, environment: environment) }

    /// What its organiser is told when another storage policy costs it a channel that devices may follow.
    package func warning(lost channelID: String) -> String {
        "The storage policy of \(id.words) is now \(storagePolicy.rawValue), so its channel \(channelID) is replaced. "
            + "Phones that follow the old channel get no more messages; an app that looks the event up gets the new one."
    }

    /// An audience's channel as its organiser sees it.
    package struct ChannelStatus: Sendable, Hashable {
        package enum State: String, Sendable, Hashable, CaseIterable {
            /// The time at which channels open has not come yet; it is `nextAttemptAt`.
            case waiting
            /// Asked of Apple, or about to be.
            case pending
            case active
            case retiring
            case deleted
            case failed
            /// The audience is reached by tokens, or the event was over before it had one: none is made.
            case none
        }

        package var state: State
        package var channelID: String?
        package var reason: String?
        package var nextAttemptAt: Date?

        /// Reads the status off the audience's channel, if it has one yet.
        package init(channel: Channel?, channelsOpenAt: Date?, now: Date) {
            guard let channel else {
                let held = channelsOpenAt.map { $0 > now } ?? false
                self.init(state: held ? .waiting : .pending, nextAttemptAt: held ? channelsOpenAt : nil)
                return
            }
            self.init(
                state: channel.state.shown, channelID: channel.channelID, reason: channel.reason,
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
