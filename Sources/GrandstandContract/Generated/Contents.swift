// Generated from openapi.yaml by `make contract`. Do not edit.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// What happens to a content that a version of the app cannot decode.
    public enum ContentCheck: ContractWord {
        /// The message is accepted, and warnings say what is wrong.
        case warn
        /// The message is refused with 422 content-mismatch.
        case refuse
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.warn, .refuse]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .warn: "warn"
            case .refuse: "refuse"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// What an app's activities of one type can decode, and what sends an alert.
    public struct ContentTypeDraft: Codable, Sendable, Hashable {
        /// What happens to a content that a version cannot decode. Left out: warn.
        public var check: ContentCheck?
        /// The versions of the app that are still installed. Each name only once.
        public var versions: [ContentVersion]
        /// Which changes of a state are quiet and which send an alert. Left out: every change is an update.
        public var rules: RawJSON?

        /// Members that are `nil` are left out.
        public init(check: ContentCheck? = nil, versions: [ContentVersion], rules: RawJSON? = nil) {
            self.check = check
            self.versions = versions
            self.rules = rules
        }
    }

    /// What one version of the app can decode.
    public struct ContentVersion: Codable, Sendable, Hashable {
        /// The name of the version, for people.
        public var name: String
        /// A JSON Schema (2020-12) of contentState. It may have type, properties, required, additionalProperties,
        /// items, enum, const, minimum, maximum, maxLength, maxItems, anyOf, $defs, $ref within the document, and
        /// format with uuid, uri-reference, float or decimal. Any other keyword is refused with its place. A whole
        /// number is one that Swift decodes as such: 5.0 is one.
        public var schema: RawJSON

        /// Members that are `nil` are left out.
        public init(name: String, schema: RawJSON) {
            self.name = name
            self.schema = schema
        }
    }

    /// Which changes of a state are quiet and which send an alert.
    public struct StateRules: Codable, Sendable, Hashable {
        /// Members whose changes are not urgent, for example a clock, with everything inside them. A member that no
        /// version's schema has is refused, here and in rings.
        public var quiet: [String]?
        /// Quiet changes are sent at most once in this many seconds. Left out: 30.
        public var quietInterval: Int?
        /// Changes that send an alert. The first rule that matches counts.
        public var rings: [RingRule]?

        /// Members that are `nil` are left out.
        public init(quiet: [String]? = nil, quietInterval: Int? = nil, rings: [RingRule]? = nil) {
            self.quiet = quiet
            self.quietInterval = quietInterval
            self.rings = rings
        }
    }

    /// A change that sends an alert, and the alert.
    public struct RingRule: Codable, Sendable, Hashable {
        /// Exactly one of increases, decreases, changes, becomes and appears. It is refused if no version's schema has
        /// such a value there.
        public var when: RingCondition
        /// The alert. In title, body and loc-args {home} is the member home of the new state, {old:home} of the one
        /// before, and {/team/name} a member by its JSON Pointer. {{ is a brace. If the title is empty with a state,
        /// the state is sent without the alert, with a warning.
        public var alert: RawJSON
        /// Alerts by BCP 47 tags, for audiences whose variant is such a tag: an audience of variant de gets the best
        /// match (RFC 4647 lookup), else alert. Capitals do not tell tags apart.
        public var alertsByLocale: [String: RawJSON]?

        /// Members that are `nil` are left out.
        public init(when: RingCondition, alert: RawJSON, alertsByLocale: [String: RawJSON]? = nil) {
            self.when = when
            self.alert = alert
            self.alertsByLocale = alertsByLocale
        }
    }

    /// Exactly one of increases, decreases, changes, becomes and appears. It is refused if no version's schema has such
    /// a value there.
    public struct RingCondition: Codable, Sendable, Hashable {
        /// The number there is greater than before.
        public var increases: String?
        /// The number there is smaller than before.
        public var decreases: String?
        /// The value there has changed.
        public var changes: String?
        /// The value there has become value.
        public var becomes: String?
        /// The array there has a new item. With value: a new item that equals value, or an object with the members of
        /// value.
        public var appears: String?
        /// Any JSON: the value of becomes, which needs it, or of an item of appears.
        public var value: RawJSON?

        /// Members that are `nil` are left out.
        public init(
            increases: String? = nil, decreases: String? = nil, changes: String? = nil, becomes: String? = nil,
            appears: String? = nil, value: RawJSON? = nil
        ) {
            self.increases = increases
            self.decreases = decreases
            self.changes = changes
            self.becomes = becomes
            self.appears = appears
            self.value = value
        }
    }

    /// A content type as it was declared.
    public struct ContentType: Codable, Sendable, Hashable, ContractAnswer {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// The name of the app's Swift type of ActivityAttributes, at most 128 characters.
        public var attributesType: String
        /// What happens to a content that a version of the app cannot decode.
        public var check: ContentCheck
        /// The versions of the app that are still installed.
        public var versions: [ContentVersion]
        /// Which changes are quiet and which send an alert. null: every change is an update.
        public var rules: RawJSON?
        /// When it was first declared.
        public var createdAt: Date
        /// When it was last changed.
        public var updatedAt: Date
        /// Only in the answer to PUT: live events whose newest content this content type would refuse. The first 100.
        public var mismatches: [ContentMismatch]?

        package static let leftOut = ["mismatches"]

        /// Members that are `nil` are left out.
        public init(
            bundleId: String, attributesType: String, check: ContentCheck, versions: [ContentVersion],
            rules: RawJSON? = nil, createdAt: Date, updatedAt: Date, mismatches: [ContentMismatch]? = nil
        ) {
            self.bundleId = bundleId
            self.attributesType = attributesType
            self.check = check
            self.versions = versions
            self.rules = rules
            self.createdAt = createdAt
            self.updatedAt = updatedAt
            self.mismatches = mismatches
        }
    }

    /// A live event whose newest content a content type would refuse.
    public struct ContentMismatch: Codable, Sendable, Hashable {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The audience's variant, if it has one.
        public var variant: String?
        /// The broadcast that has this content.
        public var broadcastId: String
        /// The places in contentState that are wrong, each with the versions that cannot decode it.
        public var errors: [FieldError]

        /// Members that are `nil` are left out.
        public init(
            eventKey: String, environment: Environment, variant: String? = nil, broadcastId: String,
            errors: [FieldError]
        ) {
            self.eventKey = eventKey
            self.environment = environment
            self.variant = variant
            self.broadcastId = broadcastId
            self.errors = errors
        }
    }

    /// A page of content types.
    public typealias ContentTypePage = Page<ContentType>

    /// A text for people, or the key of a text that the app translates.
    public enum LocalizedText: Codable, Sendable, Hashable {
        case text(String)
        case localized(LocalizedKey)

        /// Decodes the first alternative that fits.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(String.self) {
                self = .text(value)
                return
            }
            self = .localized(try container.decode(LocalizedKey.self))
        }

        /// Encodes the alternative.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let value): try container.encode(value)
            case .localized(let value): try container.encode(value)
            }
        }
    }

    /// A text that the app translates.
    public struct LocalizedKey: Codable, Sendable, Hashable {
        /// The key in the app's Localizable.strings.
        public var locKey: String
        /// What takes the place of the key's variables, in order.
        public var locArgs: [String]?

        private enum CodingKeys: String, CodingKey {
            case locKey = "loc-key"
            case locArgs = "loc-args"
        }

        /// Members that are `nil` are left out.
        public init(locKey: String, locArgs: [String]? = nil) {
            self.locKey = locKey
            self.locArgs = locArgs
        }
    }

    /// Makes the device ring and light up. It needs a title or a body that is not empty, and has no empty title. The
    /// message is sent with the alert until it expires, or for 15 minutes (GRANDSTAND_ALERT_FRESH) if it has neither
    /// expiresIn nor an apnsExpiration other than 0. After that its content is sent as a plain update. If APNs refuses
    /// the alert, it goes again with the newest content.
    public struct Alert: Codable, Sendable, Hashable {
        /// The first line.
        public var title: LocalizedText?
        /// The text below the title.
        public var body: LocalizedText?
        /// The name of a sound file in the app, or default.
        public var sound: String?

        /// Members that are `nil` are left out.
        public init(title: LocalizedText? = nil, body: LocalizedText? = nil, sound: String? = nil) {
            self.title = title
            self.body = body
            self.sound = sound
        }
    }
}
