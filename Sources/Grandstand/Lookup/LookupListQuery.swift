package import FoundationEssentials
package import GrandstandContract

/// The filter of a list of an app's events.
package struct LookupListQuery: Sendable, Hashable {
    /// Only events with this topic.
    package var topic: Topic?
    /// Only events that begin at this time or later. Events without a start are left out.
    package var from: Date?
    /// Only events that begin before this time.
    package var to: Date?
    package var state: Contract.FollowableState?
    /// The variant of the audiences; `nil`: the audience without a variant or, if there is none, the first audience
    /// that is not over.
    package var variant: Variant?
    /// 1 to 200.
    package var limit: Int
    /// The position of the previous page's last event.
    package var after: LookupIndex.Place?

    package init(
        topic: Topic? = nil, from: Date? = nil, to: Date? = nil, state: Contract.FollowableState? = nil,
        variant: Variant? = nil,
        limit: Int = 50, after: LookupIndex.Place? = nil
    ) {
        self.topic = topic
        self.from = from
        self.to = to
        self.state = state
        self.variant = variant
        self.limit = limit
        self.after = after
    }
}
