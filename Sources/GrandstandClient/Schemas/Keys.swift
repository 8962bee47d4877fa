public import Foundation

extension GrandstandClient {
    /// A key of the API, without its secret.
    public struct Key: Sendable, Hashable, Codable {
        /// The server's ID of it.
        public var id: String
        /// What people know it by.
        public var name: String
        /// What it may do.
        public var scopes: [Scope]
        /// The app, where it is bound to one.
        public var bundleId: String?
        /// The apps it is bound to; null: all.
        public var bundleIds: [String]?
        /// The beginning of its secret.
        public var prefix: String
        /// How far it has come.
        public var state: KeyState
        /// When it was made.
        public var createdAt: Date
        /// When it ends by itself.
        public var expiresAt: Date?
        /// When it was ended.
        public var revokedAt: Date?
        /// The key that took its place.
        public var replacedBy: String?
        /// When it was used last, to the minute or so.
        public var lastUsedAt: Date?
    }

    /// A new key, with its secret.
    public typealias IssuedKey = Joined<Key, IssuedSecret>

    /// What is told once, and printed nowhere.
    public struct IssuedSecret: Sendable, Hashable, Codable {
        private let issued: Secret

        /// A key's secret; of a webhook, what signs as Standard Webhooks says.
        public var secret: String { issued.rawValue }

        private enum CodingKeys: String, CodingKey { case issued = "secret" }
    }
}
