public import Foundation

extension GrandstandClient {
    /// What has become of an event's start.
    public typealias StartReport = Joined<StartProgress, StartedAudiences>

    /// What has become of the start for one audience: of that with a variant it starts on, where it has one.
    public typealias AudienceStart = Joined<AudienceSelector, StartProgress>

    /// How far a start has come.
    public struct StartProgress: Sendable, Hashable, Codable {
        /// How far it has come.
        public var state: StartState
        /// Who asked for it by hand, else who declared it, as actor of the audit log; nil when that was not kept yet.
        public var by: String?
        /// When it began.
        public var startedAt: Date?
        /// When it was done.
        public var finishedAt: Date?
        /// In numbers.
        public var counts: StartCounts
        /// Rejected ones by Apple's reason.
        public var byReason: [String: Int]
        /// Pushes answered in a second, from the first one until nothing was left. Late followers are not in it.
        public var perSecond: Double?
    }

    /// The audiences of a start.
    public struct StartedAudiences: Sendable, Hashable, Codable {
        /// One for each.
        public var audiences: [AudienceStart]
    }

    /// A topic and how many follow it.
    public struct FollowedTopic: Sendable, Hashable, Codable {
        /// The topic.
        public var topic: String
        /// How many follow it.
        public var followers: Int
    }
}
