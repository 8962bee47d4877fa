extension Audience {
    /// How an event's updates reach the activities of an audience. A change does not make it another audience.
    package enum Delivery: String, Sendable, Hashable, CaseIterable {
        /// By a broadcast channel. Activities without the channel that report a token are reached by token.
        case channel
        /// By tokens only. No channel is created.
        case tokens
    }
}
