// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// APNs has two environments, each with its own tokens and channels.
    public struct Environment: ContractWord {
        /// For apps that Xcode installs on a device.
        public static let development = Self(rawValue: "development")
        /// For apps from TestFlight and the App Store.
        public static let production = Self(rawValue: "production")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .development,
            .production,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether the server can sign requests to Apple for an app in an environment.
    public struct CredentialState: ContractWord {
        /// The key file can be used.
        public static let ok = Self(rawValue: "ok")
        /// There is no key file AuthKey_{keyId}.p8 in the server's folder of keys.
        public static let missing = Self(rawValue: "missing")
        /// The file is there but holds no key that can be read.
        public static let unreadable = Self(rawValue: "unreadable")
        /// APNs refuses the provider tokens that this key signs. credentialRefusals says why.
        public static let refused = Self(rawValue: "refused")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .ok,
            .missing,
            .unreadable,
            .refused,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What the server learned about APNs and an app.
    public struct QuirkName: ContractWord {
        /// How Apple's channel management expects the bundle ID to be spelled.
        public static let managementPath = Self(rawValue: "management-path")
        /// Whether the app has the broadcast capability at Apple.
        public static let broadcastFeature = Self(rawValue: "broadcast-feature")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .managementPath,
            .broadcastFeature,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The value of a quirk.
    public struct QuirkValue: ContractWord {
        /// Of management-path: as it was registered.
        public static let registered = Self(rawValue: "registered")
        /// Of management-path: in lower case.
        public static let lowercased = Self(rawValue: "lowercased")
        /// The word on.
        public static let on = Self(rawValue: "on")
        /// The word off.
        public static let off = Self(rawValue: "off")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .registered,
            .lowercased,
            .on,
            .off,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// An app as an admin declares it.
    public struct AppDraft: Sendable, Hashable, Codable, ContractObject {
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// The ID of the team at Apple that the signing key belongs to.
        public var teamId: String
        /// The ID of the key at Apple that signs. The server reads the file AuthKey_{keyId}.p8.
        public var keyId: String
        /// The most channels that the server keeps for the app in each environment. Apple allows 10,000.
        public var channelLimit: Int?
        /// What differs from teamId and keyId in one environment.
        public var environments: Overrides?
        /// How people at the console see a contentState. Left out, they see JSON.
        public var preview: AppPreview?

        /// Members that are `nil` are left out.
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            name = try object.required("name")
            teamId = try object.required("teamId")
            keyId = try object.required("keyId")
            channelLimit = try object.optional("channelLimit")
            environments = try object.optional("environments")
            preview = try object.optional("preview")
        }

        package func write(members object: inout JSONWriter) {
            object.member("name", name)
            object.member("teamId", teamId)
            object.member("keyId", keyId)
            if let channelLimit { object.member("channelLimit", channelLimit) }
            if let environments { object.member("environments", environments) }
            if let preview { object.member("preview", preview) }
        }
    }

    /// The console shows a contentState as plain text, as a lock screen would. These Mustache templates write that
    /// text. They may have names (`{{home}}`, `{{team.name}}`, `{{.}}`), sections, inverted sections and comments, but
    /// no partials, lambdas or other delimiters. A template that cannot be read is refused with the place (422).
    public struct AppPreview: Sendable, Hashable, Codable, ContractObject {
        /// One line, at most 2,000 bytes of UTF-8.
        public var compact: String?
        /// Several lines, at most 2,000 bytes of UTF-8.
        public var expanded: String?

        /// Members that are `nil` are left out.
        public init(compact: String? = nil, expanded: String? = nil) {
            self.compact = compact
            self.expanded = expanded
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            compact = try object.optional("compact")
            expanded = try object.optional("expanded")
        }

        package func write(members object: inout JSONWriter) {
            if let compact { object.member("compact", compact) }
            if let expanded { object.member("expanded", expanded) }
        }
    }

    /// What differs from the app's own team and key, by environment.
    public struct Overrides: Sendable, Hashable, Codable, ContractObject {
        /// In APNs' development environment.
        public var development: Override?
        /// In APNs' production environment.
        public var production: Override?

        /// Members that are `nil` are left out.
        public init(development: Override? = nil, production: Override? = nil) {
            self.development = development
            self.production = production
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            development = try object.optional("development")
            production = try object.optional("production")
        }

        package func write(members object: inout JSONWriter) {
            if let development { object.member("development", development) }
            if let production { object.member("production", production) }
        }
    }

    /// Another team or key for one environment.
    public struct Override: Sendable, Hashable, Codable, ContractObject {
        /// The team there. Left out, the app's.
        public var teamId: String?
        /// The key there. Left out, the app's.
        public var keyId: String?

        /// Members that are `nil` are left out.
        public init(teamId: String? = nil, keyId: String? = nil) {
            self.teamId = teamId
            self.keyId = keyId
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            teamId = try object.optional("teamId")
            keyId = try object.optional("keyId")
        }

        package func write(members object: inout JSONWriter) {
            if let teamId { object.member("teamId", teamId) }
            if let keyId { object.member("keyId", keyId) }
        }
    }

    /// An app, and how the server signs for it.
    public struct App: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// The bundle ID in lower case. Two apps cannot have the same.
        public var topic: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// The ID of the team at Apple that the signing key belongs to.
        public var teamId: String
        /// The ID of the key at Apple that signs. The server reads the file AuthKey_{keyId}.p8.
        public var keyId: String
        /// The most channels that the server keeps for the app in each environment.
        public var channelLimit: Int
        /// What differs from the app's own team and key, by environment.
        public var environments: Overrides
        /// Whether the server can sign, by environment.
        public var credentials: [String: CredentialState]
        /// Refusals of the keys by APNs, by environment.
        public var credentialRefusals: [String: CredentialRefusal]
        /// Where APNs behaves other than documented for this app.
        public var quirks: [Quirk]
        /// How people at the console see a contentState. null: as JSON.
        public var preview: AppPreview?
        /// When it was registered.
        public var createdAt: Date?
        /// When it was last changed.
        public var updatedAt: Date?
        /// When it was deleted. The server is removing what is left of its history. null: it can be used.
        public var deletingSince: Date?

        /// Members that are `nil` are left out.
        public init(
            bundleId: String, topic: String, name: String, teamId: String, keyId: String, channelLimit: Int,
            environments: Overrides, credentials: [String: CredentialState],
            credentialRefusals: [String: CredentialRefusal], quirks: [Quirk], preview: AppPreview? = nil,
            createdAt: Date? = nil, updatedAt: Date? = nil, deletingSince: Date? = nil
        ) {
            self.bundleId = bundleId
            self.topic = topic
            self.name = name
            self.teamId = teamId
            self.keyId = keyId
            self.channelLimit = channelLimit
            self.environments = environments
            self.credentials = credentials
            self.credentialRefusals = credentialRefusals
            self.quirks = quirks
            self.preview = preview
            self.createdAt = createdAt
            self.updatedAt = updatedAt
            self.deletingSince = deletingSince
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            topic = try object.required("topic")
            name = try object.required("name")
            teamId = try object.required("teamId")
            keyId = try object.required("keyId")
            channelLimit = try object.required("channelLimit")
            environments = try object.required("environments")
            credentials = try object.required("credentials")
            credentialRefusals = try object.required("credentialRefusals")
            quirks = try object.required("quirks")
            preview = try object.optional("preview")
            createdAt = try object.optional("createdAt")
            updatedAt = try object.optional("updatedAt")
            deletingSince = try object.optional("deletingSince")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("topic", topic)
            object.member("name", name)
            object.member("teamId", teamId)
            object.member("keyId", keyId)
            object.member("channelLimit", channelLimit)
            object.member("environments", environments)
            object.member("credentials", credentials)
            object.member("credentialRefusals", credentialRefusals)
            object.member("quirks", quirks)
            object.member("preview", preview)
            object.member("createdAt", createdAt)
            object.member("updatedAt", updatedAt)
            object.member("deletingSince", deletingSince)
        }
    }

    /// APNs refuses the provider tokens that a key signs. After two refusals in a row requests wait, and one is sent
    /// every three seconds, until APNs accepts one or the key file is replaced.
    public struct CredentialRefusal: Sendable, Hashable, Codable, ContractObject {
        /// Apple's reason in the newest refusal.
        public var reason: String
        /// The time of the first refusal in a row.
        public var since: Date

        /// Members that are `nil` are left out.
        public init(reason: String, since: Date) {
            self.reason = reason
            self.since = since
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            reason = try object.required("reason")
            since = try object.required("since")
        }

        package func write(members object: inout JSONWriter) {
            object.member("reason", reason)
            object.member("since", since)
        }
    }

    /// An app as the keys in client apps see it.
    public struct AppName: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// The bundle ID in lower case.
        public var topic: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String

        /// Members that are `nil` are left out.
        public init(bundleId: String, topic: String, name: String) {
            self.bundleId = bundleId
            self.topic = topic
            self.name = name
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            topic = try object.required("topic")
            name = try object.required("name")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("topic", topic)
            object.member("name", name)
        }
    }

    /// A page of apps.
    public typealias AppPage = Page<App>

    /// A page of apps as the keys in client apps see them.
    public typealias AppNamePage = Page<AppName>

    /// Something that the server learned about APNs for an app in an environment.
    public struct Quirk: Sendable, Hashable, Codable, ContractObject {
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// What the server learned about APNs and an app.
        public var quirk: QuirkName
        /// The value of a quirk.
        public var value: QuirkValue
        /// When it was learned or set.
        public var learnedAt: Date
        /// What it was learned from, or who set it.
        public var evidence: String

        /// Members that are `nil` are left out.
        public init(environment: Environment, quirk: QuirkName, value: QuirkValue, learnedAt: Date, evidence: String) {
            self.environment = environment
            self.quirk = quirk
            self.value = value
            self.learnedAt = learnedAt
            self.evidence = evidence
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            environment = try object.required("environment")
            quirk = try object.required("quirk")
            value = try object.required("value")
            learnedAt = try object.required("learnedAt")
            evidence = try object.required("evidence")
        }

        package func write(members object: inout JSONWriter) {
            object.member("environment", environment.rawValue)
            object.member("quirk", quirk.rawValue)
            object.member("value", value.rawValue)
            object.member("learnedAt", learnedAt)
            object.member("evidence", evidence)
        }
    }
}
