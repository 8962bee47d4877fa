package import FoundationEssentials

/// Which of an app's events a list shows.
package struct LookupListQuery: Sendable, Hashable {
    /// Events with this topic only.
    package var topic: Topic?
    /// Events that begin at this moment or later; events without a start are left out.
    package var from: Date?
    /// Events that begin before this moment.
    package var to: Date?
    package var state: State?
    /// Audiences of this variant; `nil`: the one without a variant, else the first that is not over.
    package var variant: Variant?
    /// 1 to 200.
    package var limit: Int
    /// The last place of the page before.
    package var after: LookupIndex.Place?

    /// The states of events that may still be followed.
    package enum State: String, Sendable, Hashable, CaseIterable {
        case scheduled
        case live
    }

    package init(
        topic: Topic? = nil, from: Date? = nil, to: Date? = nil, state: State? = nil, variant: Variant? = nil,
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
