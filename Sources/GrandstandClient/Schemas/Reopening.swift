public import Foundation

extension GrandstandClient {
    /// Which audiences are opened again; all of them without any.
    public struct ReopenOrder: Sendable, Hashable, Codable {
        /// Who it is for.
        public var audiences: [AudienceSelector]?

        /// What is left out is not said.
        public init(audiences: [AudienceSelector]? = nil) {
            self.audiences = audiences
        }
    }

    /// The event as it is now, and what could be taken back.
    public struct ReopenedEvent: Sendable, Hashable, Codable {
        /// The organiser's name for it.
        public var key: String
        /// What people know it by.
        public var name: String
        /// A word for filtering, e.g. football.
        public var kind: String?
        /// How far it has come.
        public var state: EventState
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end.
        public var endsAt: Date?
        /// When channels are opened; at once without it.
        public var channelsOpenAt: Date?
        /// The same in seconds before startsAt.
        public var channelsOpenBefore: Int?
        /// Who it is for.
        public var audiences: [EventAudience]
        /// Yours to keep with it.
        public var metadata: RawJSON
        /// What people follow to get its start.
        public var topics: [String]
        /// The push that starts its Live Activity.
        public var start: Start?
        /// What its messages have that say nothing themselves.
        public var defaults: EventDefaults?
        /// When it was made.
        public var createdAt: Date
        /// When it was changed last.
        public var updatedAt: Date
        /// What became of each audience's channel.
        public var channels: [ReopenedChannel]
        /// Those that carry the newest content once more.
        public var broadcasts: [String]
        /// What was accepted and may not be what was meant.
        public var warnings: [String]
    }

    /// What became of an audience's channel.
    public struct ReopenedChannel: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Only where the audience has one.
        public var variant: String?
        /// Kept: with its followers. new: another is made. none: reached by tokens.
        public var channel: ChannelFate
    }
}
