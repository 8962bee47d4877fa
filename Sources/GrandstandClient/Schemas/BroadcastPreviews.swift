public import Foundation

extension GrandstandClient {
    /// What a broadcast would come to.
    public struct BroadcastPreview: Sendable, Hashable, Codable {
        /// An update or the end; of a push also a start.
        public var event: MessageKind
        /// Now, or its sendAt.
        public var goesAt: Date
        /// Whether it waits for its sendAt.
        public var isScheduled: Bool
        /// When the server would stop trying.
        public var expiresAt: Date
        /// Who it is for.
        public var audiences: [AudiencePreview]
        /// What was accepted and may not be what was meant.
        public var warnings: [String]
    }

    /// What one audience would get.
    public struct AudiencePreview: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Which of the app's audiences, e.g. a language.
        public var variant: String?
        /// Whom it goes to.
        public var kind: DeliveryKind
        /// 1, 5 or 10.
        public var priority: Int
        /// The header apns-expiration itself, in seconds since 1970; 0 is "now or never".
        public var apnsExpiration: Int
        /// Of the body to APNs.
        public var bytes: Int
        /// Bytes that APNs takes there.
        public var limit: Int
        /// The body to APNs; its timestamp is that of the sending.
        public var payload: RawJSON
        /// By the app's templates; null without any.
        public var preview: RenderedPreview?
        /// Broadcasts that wait and would not be sent any more.
        public var replaces: [String]
    }

    /// What a lock screen would show, by the templates of the app.
    public struct RenderedPreview: Sendable, Hashable, Codable {
        /// A line.
        public var compact: String?
        /// With more room.
        public var expanded: String?
    }
}
