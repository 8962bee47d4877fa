public import Foundation

extension GrandstandClient {
    /// What registers an app, or changes it.
    public struct AppDraft: Sendable, Hashable, Codable {
        /// What people know it by.
        public var name: String
        /// Apple's team ID.
        public var teamId: String
        /// The ID of the key that signs.
        public var keyId: String
        /// Channels at most.
        public var channelLimit: Int?
        /// What differs in one environment.
        public var environments: Overrides?
        /// Left out or null: the console shows what is sent as JSON.
        public var preview: AppPreview?

        /// What is left out is not said.
        public init(
            name: String, teamId: String, keyId: String, channelLimit: Int? = nil, environments: Overrides? = nil,
            preview: AppPreview? = nil
        ) {
            self.name = name
            self.teamId = teamId
            self.keyId = keyId
            self.channelLimit = channelLimit
            self.environments = environments
            self.preview = preview
        }
    }

    /// What a lock screen would show of a content state, as Mustache templates for people at the console.
    public struct AppPreview: Sendable, Hashable, Codable {
        /// A line; up to 2,000 bytes of UTF-8.
        public var compact: String?
        /// With more room; up to 2,000 bytes of UTF-8.
        public var expanded: String?

        /// What is left out is not said.
        public init(compact: String? = nil, expanded: String? = nil) {
            self.compact = compact
            self.expanded = expanded
        }
    }

    /// What differs from the app's own team and key.
    public struct Overrides: Sendable, Hashable, Codable {
        /// Of APNs' development environment.
        public var development: Override?
        /// Of APNs' production environment.
        public var production: Override?

        /// What is left out is not said.
        public init(development: Override? = nil, production: Override? = nil) {
            self.development = development
            self.production = production
        }
    }

    /// Another team or key in one environment.
    public struct Override: Sendable, Hashable, Codable {
        /// Apple's team ID.
        public var teamId: String?
        /// The ID of the key that signs.
        public var keyId: String?

        /// What is left out is not said.
        public init(teamId: String? = nil, keyId: String? = nil) {
            self.teamId = teamId
            self.keyId = keyId
        }
    }

    /// An app and what the server signs its requests with.
    public struct App: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// The APNs topic, the bundle ID in lower case.
        public var topic: String
        /// What people know it by.
        public var name: String
        /// Apple's team ID.
        public var teamId: String
        /// The ID of the key that signs.
        public var keyId: String
        /// Channels at most.
        public var channelLimit: Int
        /// What differs in one environment.
        public var environments: Overrides
        /// Whether the key file is there, by environment.
        public var credentials: [String: CredentialState]
        /// What was learned of APNs.
        public var quirks: [Quirk]
        /// Templates of what a lock screen shows.
        public var preview: AppPreview?
        /// When it was made.
        public var createdAt: Date?
        /// When it was changed last.
        public var updatedAt: Date?
    }

    /// An app, for the keys that ship in client apps.
    public struct AppName: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// The APNs topic, the bundle ID in lower case.
        public var topic: String
        /// What people know it by.
        public var name: String
    }

    /// What was learned of APNs.
    public struct Quirk: Sendable, Hashable, Codable {
        /// APNs' environment.
        public var environment: Environment
        /// Its name.
        public var quirk: String
        /// What is so.
        public var value: String
        /// When it was learned.
        public var learnedAt: Date
        /// What it was learned from.
        public var evidence: String
    }
}
