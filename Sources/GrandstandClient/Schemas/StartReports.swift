public import Foundation

extension GrandstandClient {
    /// What has become of an event's start.
    public struct StartReport: Sendable, Hashable, Codable {
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
        /// Who it is for.
        public var audiences: [AudienceStart]
    }

    /// What has become of the start for one audience.
    public struct AudienceStart: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Of the audience that it starts on, where that has one.
        public var variant: String?
        /// How far it has come.
        public var state: StartState
        /// When it began.
        public var startedAt: Date?
        /// When it was done.
        public var finishedAt: Date?
        /// In numbers.
        public var counts: StartCounts
        /// Refused ones, by Apple's reason.
        public var byReason: [String: Int]
        /// Pushes answered in a second.
        public var perSecond: Double?
    }

    /// A topic and how many follow it.
    public struct FollowedTopic: Sendable, Hashable, Codable {
        /// The topic.
        public var topic: String
        /// How many follow it.
        public var followers: Int
    }
}
