// Generated from openapi.yaml by `make contract`. Do not edit.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// What a key allows.
    public enum Scope: ContractWord {
        /// For client apps: look up channels.
        case lookup
        /// For client apps: register installations and look up channels. Such a key is bound to exactly one app.
        case device
        /// Events, broadcasts and starts, and an event's entries in the audit log.
        case organise
        /// Channels, quotas, reconciliations and the audit log.
        case operate
        /// Everything, and also apps and keys.
        case admin
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.lookup, .device, .organise, .operate, .admin]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .lookup: "lookup"
            case .device: "device"
            case .organise: "organise"
            case .operate: "operate"
            case .admin: "admin"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// Whether a key can be used.
    public enum KeyState: ContractWord {
        /// It can be used.
        case active
        /// Its expiresAt has passed.
        case expired
        /// Somebody revoked it.
        case revoked
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.active, .expired, .revoked]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .active: "active"
            case .expired: "expired"
            case .revoked: "revoked"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// A key to be created.
    public struct KeyDraft: Codable, Sendable, Hashable {
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// What it may do.
        public var scopes: [Scope]
        /// The one app that it is bound to. Required with the scope device.
        public var bundleId: String?
        /// The apps that it is bound to, each once. Not together with bundleId. Without either it reaches all apps.
        public var bundleIds: [String]?
        /// Of its apps' events, it reaches only those whose keys begin with this. No key that is bound to apps, and not
        /// to this prefix, declares such an event. Only with the scope organise alone, and only from a key that reaches
        /// all apps.
        public var eventKeyPrefix: String?
        /// A time in the future at which the key stops working. Left out: it does not expire.
        public var expiresAt: Date?

        /// Members that are `nil` are left out.
        public init(
            name: String, scopes: [Scope], bundleId: String? = nil, bundleIds: [String]? = nil,
            eventKeyPrefix: String? = nil, expiresAt: Date? = nil
        ) {
            self.name = name
            self.scopes = scopes
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.eventKeyPrefix = eventKeyPrefix
            self.expiresAt = expiresAt
        }
    }

    /// How long the old key stays valid.
    public struct RotationDraft: Codable, Sendable, Hashable {
        /// Seconds for which the old key can still be used, at most 30 days.
        public var overlapSeconds: Int?

        /// Members that are `nil` are left out.
        public init(overlapSeconds: Int? = nil) {
            self.overlapSeconds = overlapSeconds
        }
    }

    /// A key, without its secret.
    public struct Key: Codable, Sendable, Hashable, ContractAnswer {
        /// The server's ID of the resource.
        public var id: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// What it may do.
        public var scopes: [Scope]
        /// The app that it is bound to, if it is a single one.
        public var bundleId: String?
        /// The apps that it is bound to. null: it reaches all.
        public var bundleIds: [String]?
        /// The prefix of event keys that it is bound to. null: it reaches all events of its apps.
        public var eventKeyPrefix: String?
        /// The first characters of its secret, so that people recognise it.
        public var prefix: String
        /// Whether a key can be used.
        public var state: KeyState
        /// When it was made.
        public var createdAt: Date
        /// From when on it opens nothing. null: it does not expire.
        public var expiresAt: Date?
        /// When it was revoked.
        public var revokedAt: Date?
        /// The key that took its place.
        public var replacedBy: String?
        /// When it was last used, to the minute or so.
        public var lastUsedAt: Date?

        /// Members that are `nil` are left out.
        public init(
            id: String, name: String, scopes: [Scope], bundleId: String? = nil, bundleIds: [String]? = nil,
            eventKeyPrefix: String? = nil, prefix: String, state: KeyState, createdAt: Date, expiresAt: Date? = nil,
            revokedAt: Date? = nil, replacedBy: String? = nil, lastUsedAt: Date? = nil
        ) {
            self.id = id
            self.name = name
            self.scopes = scopes
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.eventKeyPrefix = eventKeyPrefix
            self.prefix = prefix
            self.state = state
            self.createdAt = createdAt
            self.expiresAt = expiresAt
            self.revokedAt = revokedAt
            self.replacedBy = replacedBy
            self.lastUsedAt = lastUsedAt
        }
    }

    /// A new key, with its secret.
    public struct IssuedKey: Codable, Sendable, Hashable, ContractAnswer {
        /// The server's ID of the resource.
        public var id: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// What it may do.
        public var scopes: [Scope]
        /// The app that it is bound to, if it is a single one.
        public var bundleId: String?
        /// The apps that it is bound to. null: it reaches all.
        public var bundleIds: [String]?
        /// The prefix of event keys that it is bound to. null: it reaches all events of its apps.
        public var eventKeyPrefix: String?
        /// The first characters of its secret, so that people recognise it.
        public var prefix: String
        /// Whether a key can be used.
        public var state: KeyState
        /// When it was made.
        public var createdAt: Date
        /// From when on it opens nothing. null: it does not expire.
        public var expiresAt: Date?
        /// When it was revoked.
        public var revokedAt: Date?
        /// The key that took its place.
        public var replacedBy: String?
        /// When it was last used.
        public var lastUsedAt: Date?
        /// What the caller sends as Authorization: Bearer. Only the first answer has it.
        public var secret: String? {
            get { hidden?.rawValue }
            set { hidden = newValue.map(Secret.init(_:)) }
        }
        private var hidden: Secret?
        /// Only in a repeated answer, which has no secret: it was shown once. Whoever does not have it rotates it.
        public var warnings: [String]?

        package static let leftOut = ["secret", "warnings"]

        private enum CodingKeys: String, CodingKey {
            case id
            case name
            case scopes
            case bundleId
            case bundleIds
            case eventKeyPrefix
            case prefix
            case state
            case createdAt
            case expiresAt
            case revokedAt
            case replacedBy
            case lastUsedAt
            case hidden = "secret"
            case warnings
        }

        /// The members of the other object, and these.
        package init(secret: String? = nil, warnings: [String]? = nil, _ base: Key) {
            self.id = base.id
            self.name = base.name
            self.scopes = base.scopes
            self.bundleId = base.bundleId
            self.bundleIds = base.bundleIds
            self.eventKeyPrefix = base.eventKeyPrefix
            self.prefix = base.prefix
            self.state = base.state
            self.createdAt = base.createdAt
            self.expiresAt = base.expiresAt
            self.revokedAt = base.revokedAt
            self.replacedBy = base.replacedBy
            self.lastUsedAt = base.lastUsedAt
            hidden = secret.map(Secret.init(_:))
            self.warnings = warnings
        }
    }

    /// A page of keys.
    public typealias KeyPage = Page<Key>
}
