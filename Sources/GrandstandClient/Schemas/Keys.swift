public import Foundation

extension GrandstandClient {
    /// What makes a key.
    public struct KeyDraft: Sendable, Hashable, Codable {
        /// What people know it by.
        public var name: String
        /// What it may do.
        public var scopes: [Scope]
        /// The one app the key is bound to. Required with the scope device.
        public var bundleId: String?
        /// The apps the key is bound to; not together with bundleId. Without either, it is bound to none and reaches
        /// all.
        public var bundleIds: [String]?
        /// When it ends by itself.
        public var expiresAt: Date?

        /// What is left out is not said.
        public init(
            name: String, scopes: [Scope], bundleId: String? = nil, bundleIds: [String]? = nil, expiresAt: Date? = nil
        ) {
            self.name = name
            self.scopes = scopes
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.expiresAt = expiresAt
        }
    }

    /// How long a key goes on beside its successor.
    public struct RotationDraft: Sendable, Hashable, Codable {
        /// How long the one before goes on.
        public var overlapSeconds: Int?

        /// What is left out is not said.
        public init(overlapSeconds: Int? = nil) {
            self.overlapSeconds = overlapSeconds
        }
    }

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
    public struct IssuedKey: Sendable, Hashable, Codable {
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
        /// Told this once.
        public var secret: String
    }
}
