// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// What a key allows.
    public struct Scope: ContractWord {
        /// For client apps: look up channels.
        public static let lookup = Self(rawValue: "lookup")
        /// For client apps: register installations and look up channels. Such a key is bound to exactly one app.
        public static let device = Self(rawValue: "device")
        /// Events, broadcasts and starts, and an event's entries in the audit log.
        public static let organise = Self(rawValue: "organise")
        /// Channels, quotas, reconciliations and the audit log.
        public static let operate = Self(rawValue: "operate")
        /// Everything, and also apps and keys.
        public static let admin = Self(rawValue: "admin")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .lookup,
            .device,
            .organise,
            .operate,
            .admin,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether a key can be used.
    public struct KeyState: ContractWord {
        /// It can be used.
        public static let active = Self(rawValue: "active")
        /// Its expiresAt has passed.
        public static let expired = Self(rawValue: "expired")
        /// Somebody revoked it.
        public static let revoked = Self(rawValue: "revoked")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .active,
            .expired,
            .revoked,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// A key to be created.
    public struct KeyDraft: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            name = try object.required("name")
            scopes = try object.required("scopes")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            eventKeyPrefix = try object.optional("eventKeyPrefix")
            expiresAt = try object.optional("expiresAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("name", name)
            object.member("scopes", scopes)
            if let bundleId { object.member("bundleId", bundleId) }
            if let bundleIds { object.member("bundleIds", bundleIds) }
            if let eventKeyPrefix { object.member("eventKeyPrefix", eventKeyPrefix) }
            if let expiresAt { object.member("expiresAt", expiresAt) }
        }
    }

    /// How long the old key stays valid.
    public struct RotationDraft: Sendable, Hashable, Codable, ContractObject {
        /// Seconds for which the old key can still be used, at most 30 days.
        public var overlapSeconds: Int?

        /// Members that are `nil` are left out.
        public init(overlapSeconds: Int? = nil) {
            self.overlapSeconds = overlapSeconds
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            overlapSeconds = try object.optional("overlapSeconds")
        }

        package func write(members object: inout JSONWriter) {
            if let overlapSeconds { object.member("overlapSeconds", overlapSeconds) }
        }
    }

    /// A key, without its secret.
    public struct Key: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            name = try object.required("name")
            scopes = try object.required("scopes")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            eventKeyPrefix = try object.optional("eventKeyPrefix")
            prefix = try object.required("prefix")
            state = try object.required("state")
            createdAt = try object.required("createdAt")
            expiresAt = try object.optional("expiresAt")
            revokedAt = try object.optional("revokedAt")
            replacedBy = try object.optional("replacedBy")
            lastUsedAt = try object.optional("lastUsedAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("name", name)
            object.member("scopes", scopes)
            object.member("bundleId", bundleId)
            object.member("bundleIds", bundleIds)
            object.member("eventKeyPrefix", eventKeyPrefix)
            object.member("prefix", prefix)
            object.member("state", state.rawValue)
            object.member("createdAt", createdAt)
            object.member("expiresAt", expiresAt)
            object.member("revokedAt", revokedAt)
            object.member("replacedBy", replacedBy)
            object.member("lastUsedAt", lastUsedAt)
        }
    }

    /// A new key, with its secret.
    public struct IssuedKey: Sendable, Hashable, Codable, ContractObject {
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

        /// Members that are `nil` are left out.
        public init(
            id: String, name: String, scopes: [Scope], bundleId: String? = nil, bundleIds: [String]? = nil,
            eventKeyPrefix: String? = nil, prefix: String, state: KeyState, createdAt: Date, expiresAt: Date? = nil,
            revokedAt: Date? = nil, replacedBy: String? = nil, lastUsedAt: Date? = nil, secret: String? = nil,
            warnings: [String]? = nil
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
            hidden = secret.map(Secret.init(_:))
            self.warnings = warnings
        }

        /// All members of the other, and these.
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            name = try object.required("name")
            scopes = try object.required("scopes")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            eventKeyPrefix = try object.optional("eventKeyPrefix")
            prefix = try object.required("prefix")
            state = try object.required("state")
            createdAt = try object.required("createdAt")
            expiresAt = try object.optional("expiresAt")
            revokedAt = try object.optional("revokedAt")
            replacedBy = try object.optional("replacedBy")
            lastUsedAt = try object.optional("lastUsedAt")
            hidden = (try object.optional("secret")).map(Secret.init(_:))
            warnings = try object.optional("warnings")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("name", name)
            object.member("scopes", scopes)
            object.member("bundleId", bundleId)
            object.member("bundleIds", bundleIds)
            object.member("eventKeyPrefix", eventKeyPrefix)
            object.member("prefix", prefix)
            object.member("state", state.rawValue)
            object.member("createdAt", createdAt)
            object.member("expiresAt", expiresAt)
            object.member("revokedAt", revokedAt)
            object.member("replacedBy", replacedBy)
            object.member("lastUsedAt", lastUsedAt)
            if let secret { object.member("secret", secret) }
            if let warnings { object.member("warnings", warnings) }
        }
    }

    /// A page of keys.
    public typealias KeyPage = Page<Key>
}
