extension Audience {
    /// How an event's updates reach the activities of an audience. An attribute: a change of it is no other audience.
    package enum Delivery: String, Sendable, Hashable, CaseIterable {
        /// By a broadcast channel; activities that have none, and report a token, are reached by that.
        case channel
        /// By tokens only: no channel is made for it.
        case tokens
    }
}
