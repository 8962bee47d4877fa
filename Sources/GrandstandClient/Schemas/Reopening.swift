extension GrandstandClient {
    /// The event as it is now, and what could be taken back.
    public typealias ReopenedEvent = Joined<Event, Reopening>

    /// What could be taken back.
    public struct Reopening: Sendable, Hashable, Codable {
        /// What became of each audience's channel.
        public var channels: [ReopenedChannel]
        /// Those that carry the newest content once more.
        public var broadcasts: [String]
        /// What was accepted and may not be what was meant.
        public var warnings: [String]
    }

    /// What became of an audience's channel.
    public typealias ReopenedChannel = Joined<AudienceSelector, ChannelReopening>

    /// What became of a channel.
    public struct ChannelReopening: Sendable, Hashable, Codable {
        /// Kept: with its followers. new: another is made. none: reached by tokens.
        public var channel: ChannelFate
    }
}
