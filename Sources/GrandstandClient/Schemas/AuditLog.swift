public import Foundation

extension GrandstandClient {
    /// One entry of the audit log.
    public struct AuditEntry: Sendable, Hashable, Codable {
        /// The server's ID of it.
        public var id: String
        /// When.
        public var at: Date
        /// Who did it.
        public var actor: String
        /// The key of the API that asked for it.
        public var keyId: String?
        /// What was done.
        public var action: String
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String?
        /// APNs' environment.
        public var environment: String?
        /// The channel.
        public var channel: String?
        /// Apple's ID of the channel, as it is.
        public var channelId: String?
        /// The organiser's name for the event.
        public var eventKey: String?
        /// The broadcast's ID.
        public var broadcast: String?
        /// Why, in a word of Apple's or of the server's.
        public var reason: String?
        /// The key that signed the request to APNs.
        public var signingKey: String?
        /// What APNs answered.
        public var apns: RawJSON?
    }
}
