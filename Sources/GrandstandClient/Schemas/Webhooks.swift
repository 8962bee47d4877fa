public import Foundation

extension GrandstandClient {
    /// What makes a webhook, or replaces what was said of it.
    public struct WebhookDraft: Sendable, Hashable, Codable {
        /// Where messages are posted to.
        public var url: String
        /// What to tell of.
        public var topics: [WebhookMessageType]
        /// At most 200 characters.
        public var description: String?
        /// Only what concerns this app.
        public var bundleId: String?
        /// Only what concerns these apps and no other; not together with bundleId. Without either, what the key
        /// reaches.
        public var bundleIds: [String]?
        /// Whether messages are posted.
        public var enabled: Bool?

        /// What is left out is not said.
        public init(
            url: String, topics: [WebhookMessageType], description: String? = nil, bundleId: String? = nil,
            bundleIds: [String]? = nil, enabled: Bool? = nil
        ) {
            self.url = url
            self.topics = topics
            self.description = description
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.enabled = enabled
        }
    }

    /// Where messages are posted to.
    public struct Webhook: Sendable, Hashable, Codable {
        /// The server's ID of it.
        public var id: String
        /// Where messages are posted to.
        public var url: String
        /// What people know it by.
        public var description: String?
        /// What it tells of.
        public var topics: [WebhookMessageType]
        /// The app, where it is bound to one.
        public var bundleId: String?
        /// The apps it is bound to; null: all.
        public var bundleIds: [String]?
        /// Whether messages are posted.
        public var enabled: Bool
        /// Why the server disabled it.
        public var reason: String?
        /// Since when no message was taken.
        public var failingSince: Date?
        /// Until when the secret before signs, too.
        public var previousSecretUntil: Date?
        /// When it was made.
        public var createdAt: Date
        /// When it was changed last.
        public var updatedAt: Date
    }

    /// A webhook with a new secret.
    public typealias IssuedWebhook = Joined<Webhook, IssuedSecret>
}
