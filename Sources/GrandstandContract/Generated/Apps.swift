// Generated from openapi.yaml by `make contract`. Do not edit.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// APNs has two environments, each with its own tokens and channels.
    public enum Environment: ContractWord {
        /// For apps that Xcode installs on a device.
        case development
        /// For apps from TestFlight and the App Store.
        case production
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.development, .production]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .development: "development"
            case .production: "production"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// Whether the server can sign requests to Apple for an app in an environment.
    public enum CredentialState: ContractWord {
        /// The key file can be used.
        case ok
        /// There is no key file AuthKey_{keyId}.p8 in the server's folder of keys.
        case missing
        /// The file is there but holds no key that can be read.
        case unreadable
        /// APNs refuses the provider tokens that this key signs. credentialRefusals says why.
        case refused
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.ok, .missing, .unreadable, .refused]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .ok: "ok"
            case .missing: "missing"
            case .unreadable: "unreadable"
            case .refused: "refused"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// What the server learned about APNs and an app.
    public enum QuirkName: ContractWord {
        /// How Apple's channel management expects the bundle ID to be spelled.
        case managementPath
        /// Whether the app has the broadcast capability at Apple.
        case broadcastFeature
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.managementPath, .broadcastFeature]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .managementPath: "management-path"
            case .broadcastFeature: "broadcast-feature"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// The value of a quirk.
    public enum QuirkValue: ContractWord {
        /// Of management-path: as it was registered.
        case registered
        /// Of management-path: in lower case.
        case lowercased
        /// The word on.
        case on
        /// The word off.
        case off
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.registered, .lowercased, .on, .off]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .registered: "registered"
            case .lowercased: "lowercased"
            case .on: "on"
            case .off: "off"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// An app as an admin declares it.
    public struct AppDraft: Codable, Sendable, Hashable {
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
        /// How people at the console see a contentState. Left out, they see JSON, and in lists its members.
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
    }

    /// The console shows a contentState as plain text, as a lock screen would. These Mustache templates write that
    /// text. They may have names (`{{home}}`, `{{team.name}}`, `{{.}}`), sections, inverted sections and comments, but
    /// no partials, lambdas or other delimiters. A template that cannot be read is refused (422). Of a text 200
    /// characters are shown, of all 1,000.
    public struct AppPreview: Codable, Sendable, Hashable {
        /// One line, at most 2,000 bytes of UTF-8.
        public var compact: String?
        /// Several lines, at most 2,000 bytes of UTF-8.
        public var expanded: String?

        /// Members that are `nil` are left out.
        public init(compact: String? = nil, expanded: String? = nil) {
            self.compact = compact
            self.expanded = expanded
        }
    }

    /// What differs from the app's own team and key, by environment.
    public struct Overrides: Codable, Sendable, Hashable {
        /// In APNs' development environment.
        public var development: Override?
        /// In APNs' production environment.
        public var production: Override?

        /// Members that are `nil` are left out.
        public init(development: Override? = nil, production: Override? = nil) {
            self.development = development
            self.production = production
        }
    }

    /// Another team or key for one environment.
    public struct Override: Codable, Sendable, Hashable {
        /// The team there. Left out, the app's.
        public var teamId: String?
        /// The key there. Left out, the app's.
        public var keyId: String?

        /// Members that are `nil` are left out.
        public init(teamId: String? = nil, keyId: String? = nil) {
            self.teamId = teamId
            self.keyId = keyId
        }
    }

    /// An app, and how the server signs for it.
    public struct App: Codable, Sendable, Hashable, ContractAnswer {
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
        /// How people at the console see a contentState. null: as JSON, and in lists as its members.
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
    }

    /// APNs refuses the provider tokens that a key signs. After two refusals in a row requests wait, and one is sent
    /// every three seconds, until APNs accepts one or the key file is replaced.
    public struct CredentialRefusal: Codable, Sendable, Hashable {
        /// Apple's reason in the newest refusal.
        public var reason: String
        /// The time of the first refusal in a row.
        public var since: Date

        /// Members that are `nil` are left out.
        public init(reason: String, since: Date) {
            self.reason = reason
            self.since = since
        }
    }

    /// An app as the keys in client apps see it.
    public struct AppName: Codable, Sendable, Hashable {
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
    }

    /// A page of apps.
    public typealias AppPage = Page<App>

    /// A page of apps as the keys in client apps see them.
    public typealias AppNamePage = Page<AppName>

    /// Something that the server learned about APNs for an app in an environment.
    public struct Quirk: Codable, Sendable, Hashable {
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
    }
}
