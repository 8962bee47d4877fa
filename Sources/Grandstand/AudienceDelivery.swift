extension Audience {
    /// How an event's updates reach the activities of an audience. If this value changes, the audience stays the same
    /// audience.
    package enum Delivery: String, Sendable, Hashable, CaseIterable {
        /// Updates go to a broadcast channel. An activity that does not use the channel gets updates by its token, if
        /// the app reports the token.
        case channel
        /// Updates go only to tokens. No channel is created.
        case tokens
    }
}
