package import APNsWire
package import GrandstandContract

/// The people that see an event through one channel. `id` identifies the audience within its event. The other
/// properties may change without making it another audience.
package struct Audience: Sendable, Hashable {
    /// The identity of an audience within its event. An event has at most one audience with each ID.
    package struct ID: Sendable, Hashable {
        package var bundleID: BundleID
        package var environment: APNsEnvironment
        /// `nil`: the audience without a variant. The same app and environment may also have audiences with variants.
        package var variant: Variant?

        package init(bundleID: BundleID, environment: APNsEnvironment, variant: Variant? = nil) {
            self.bundleID = bundleID
            self.environment = environment
            self.variant = variant
        }

        /// For messages to people: "com.example.Stadium in production for variant de".
        package var words: String {
            "\(bundleID) in \(environment.rawValue)\(variant.map { " for variant \($0)" } ?? "")"
        }
    }

    package var id: ID
    /// The storage policy of the audience's channel. A channel's policy never changes, so another policy needs another
    /// channel.
    package var storagePolicy: StoragePolicy
    /// How updates reach the audience's Live Activities. If it changes, the audience stays the same audience.
    package var delivery: Contract.AudienceDelivery
    /// The priority of messages whose broadcast sets none; `nil`: the event's priority, or else the default for the
    /// kind of message.
    package var priority: Int?
    /// The content type of the audience's messages; `nil`: the event's content type, or else the app's only content
    /// type.
    package var contentType: String?

    package init(
        id: ID, storagePolicy: StoragePolicy, delivery: Contract.AudienceDelivery = .channel, priority: Int? = nil,
        contentType: String? = nil
    ) {
        self.contentType = contentType
        self.id = id
        self.storagePolicy = storagePolicy
        self.delivery = delivery
        self.priority = priority
    }

    package var bundleID: BundleID { id.bundleID }
    package var environment: APNsEnvironment { id.environment }
    package var variant: Variant? { id.variant }
    package var app: AppEnvironment { AppEnvironment(bundleID: bundleID, environment: environment) }

    /// A warning about an audience that is removed without an `end`, if it may have followers. They get no more messages.
    package func warnings(removedWithChannel hasChannel: Bool) -> [String] {
        guard hasChannel || delivery == .tokens else { return [] }
        return [
            "The audience \(id.words) is removed without an end: its activities get nothing more and stay on lock screens "
                + "until they are stale, twelve hours at most. Declare it again, as long as its channel is kept, and send "
                + "it an end."
        ]
    }

    /// The warning for an organiser who changed the storage policy. Another channel replaces the old channel, which
    /// devices may still follow.
    package func warning(lost channelID: String) -> String {
        "The storage policy of \(id.words) is now \(storagePolicy.rawValue), so its channel \(channelID) is replaced. "
            + "Phones that follow the old channel get no more messages; an app that looks the event up gets the new one."
    }
}
