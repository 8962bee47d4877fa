// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// What happens to a content that a version of the app cannot decode.
    public struct ContentCheck: ContractWord {
        /// The message is accepted, and warnings say what is wrong.
        public static let warn = Self(rawValue: "warn")
        /// The message is refused with 422 content-mismatch.
        public static let refuse = Self(rawValue: "refuse")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .warn,
            .refuse,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What an app's activities of one type can decode, and what sends an alert.
    public struct ContentTypeDraft: Sendable, Hashable, Codable, ContractObject {
        /// What happens to a content that a version cannot decode. Left out: warn.
        public var check: ContentCheck?
        /// The versions of the app that are still installed. Each name only once.
        public var versions: [ContentVersion]
        /// Which changes of a state are quiet and which send an alert. Left out: every change is an update.
        public var rules: StateRules?

        /// Members that are `nil` are left out.
        public init(check: ContentCheck? = nil, versions: [ContentVersion], rules: StateRules? = nil) {
            self.check = check
            self.versions = versions
            self.rules = rules
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            check = try object.optional("check")
            versions = try object.required("versions")
            rules = try object.optional("rules")
        }

        package func write(members object: inout JSONWriter) {
            if let check { object.member("check", check.rawValue) }
            object.member("versions", versions)
            if let rules { object.member("rules", rules) }
        }
    }

    /// What one version of the app can decode.
    public struct ContentVersion: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            name = try object.required("name")
            schema = try object.required("schema")
        }

        package func write(members object: inout JSONWriter) {
            object.member("name", name)
            object.member("schema", schema)
        }
    }

    /// Which changes of a state are quiet and which send an alert.
    public struct StateRules: Sendable, Hashable, Codable, ContractObject {
        /// Members whose changes are not urgent, for example a clock, with everything inside them. A member that no
        /// version's schema has is refused, here and in rings.
        public var quiet: [String]? { didSet { kept = KeptText() } }
        /// Quiet changes are sent at most once in this many seconds. Left out: 30.
        public var quietInterval: Int? { didSet { kept = KeptText() } }
        /// Changes that send an alert. The first rule that matches counts.
        public var rings: [RingRule]? { didSet { kept = KeptText() } }
        private var kept = KeptText()

        /// Members that are `nil` are left out.
        public init(quiet: [String]? = nil, quietInterval: Int? = nil, rings: [RingRule]? = nil) {
            self.quiet = quiet
            self.quietInterval = quietInterval
            self.rings = rings
        }

        /// A text that is one already. It is written as it is.
        package init(text: [UInt8]) {
            self = (try? Self(json: JSONValue(decoding: text))) ?? Self()
            kept = KeptText(text)
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            quiet = try object.optional("quiet")
            quietInterval = try object.optional("quietInterval")
            rings = try object.optional("rings")
            kept = KeptText(object)
        }

        package func write(members object: inout JSONWriter) {
            if let quiet { object.member("quiet", quiet) }
            if let quietInterval { object.member("quietInterval", quietInterval) }
            if let rings { object.member("rings", rings) }
        }

        package func write(to json: inout JSONWriter) {
            kept.write(to: &json) { write(members: &$0) }
        }
    }

    /// A change that sends an alert, and the alert.
    public struct RingRule: Sendable, Hashable, Codable, ContractObject {
        /// Exactly one of increases, decreases, changes, becomes and appears.
        public var when: RingCondition
        /// The alert. In title, body and loc-args {home} is the member home of the new state, {old:home} of the one
        /// before, and {/team/name} a member by its JSON Pointer. {{ is a brace. If the title is empty with a state,
        /// the state is sent without the alert, with a warning.
        public var alert: Alert
        /// Alerts by BCP 47 tags, for audiences whose variant is such a tag: an audience of variant de gets the best
        /// match (RFC 4647 lookup), else alert. Capitals do not tell tags apart.
        public var alertsByLocale: [String: Alert]?

        /// Members that are `nil` are left out.
        public init(when: RingCondition, alert: Alert, alertsByLocale: [String: Alert]? = nil) {
            self.when = when
            self.alert = alert
            self.alertsByLocale = alertsByLocale
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            when = try object.required("when")
            alert = try object.required("alert")
            alertsByLocale = try object.optional("alertsByLocale")
        }

        package func write(members object: inout JSONWriter) {
            object.member("when", when)
            object.member("alert", alert)
            if let alertsByLocale { object.member("alertsByLocale", alertsByLocale) }
        }
    }

    /// Exactly one of increases, decreases, changes, becomes and appears.
    public struct RingCondition: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            increases = try object.optional("increases")
            decreases = try object.optional("decreases")
            changes = try object.optional("changes")
            becomes = try object.optional("becomes")
            appears = try object.optional("appears")
            value = try object.optional("value")
        }

        package func write(members object: inout JSONWriter) {
            if let increases { object.member("increases", increases) }
            if let decreases { object.member("decreases", decreases) }
            if let changes { object.member("changes", changes) }
            if let becomes { object.member("becomes", becomes) }
            if let appears { object.member("appears", appears) }
            if let value { object.member("value", value) }
        }
    }

    /// A content type as it was declared.
    public struct ContentType: Sendable, Hashable, Codable, ContractObject {
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
        public var rules: StateRules?
        /// When it was first declared.
        public var createdAt: Date
        /// When it was last changed.
        public var updatedAt: Date
        /// Only in the answer to PUT: live events whose newest content this content type would refuse. The first 100.
        public var mismatches: [ContentMismatch]?

        /// Members that are `nil` are left out.
        public init(
            bundleId: String, attributesType: String, check: ContentCheck, versions: [ContentVersion],
            rules: StateRules? = nil, createdAt: Date, updatedAt: Date, mismatches: [ContentMismatch]? = nil
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            attributesType = try object.required("attributesType")
            check = try object.required("check")
            versions = try object.required("versions")
            rules = try object.optional("rules")
            createdAt = try object.required("createdAt")
            updatedAt = try object.required("updatedAt")
            mismatches = try object.optional("mismatches")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("attributesType", attributesType)
            object.member("check", check.rawValue)
            object.member("versions", versions)
            object.member("rules", rules)
            object.member("createdAt", createdAt)
            object.member("updatedAt", updatedAt)
            if let mismatches { object.member("mismatches", mismatches) }
        }
    }

    /// A live event whose newest content a content type would refuse.
    public struct ContentMismatch: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            broadcastId = try object.required("broadcastId")
            errors = try object.required("errors")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("environment", environment.rawValue)
            if let variant { object.member("variant", variant) }
            object.member("broadcastId", broadcastId)
            object.member("errors", errors)
        }
    }

    /// A page of content types.
    public typealias ContentTypePage = Page<ContentType>

    /// A text for people, or the key of a text that the app translates.
    public enum LocalizedText: Sendable, Hashable, Codable, ContractValue {
        case text(String)
        case localized(LocalizedKey)

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(json: JSONValue) throws {
            if let value = try? String(json: json) {
                self = .text(value)
                return
            }
            self = .localized(try LocalizedKey(json: json))
        }

        package func write(to json: inout JSONWriter) {
            switch self {
            case .text(let value): value.write(to: &json)
            case .localized(let value): value.write(to: &json)
            }
        }
    }

    /// A text that the app translates.
    public struct LocalizedKey: Sendable, Hashable, Codable, ContractObject {
        /// The key in the app's Localizable.strings.
        public var locKey: String
        /// What takes the place of the key's variables, in order.
        public var locArgs: [String]?

        /// Members that are `nil` are left out.
        public init(locKey: String, locArgs: [String]? = nil) {
            self.locKey = locKey
            self.locArgs = locArgs
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            locKey = try object.required("loc-key")
            locArgs = try object.optional("loc-args")
        }

        package func write(members object: inout JSONWriter) {
            object.member("loc-key", locKey)
            if let locArgs { object.member("loc-args", locArgs) }
        }
    }

    /// Makes the device ring and light up. It needs a title or a body that is not empty. The message is sent with the
    /// alert until it expires, or for 15 minutes (GRANDSTAND_ALERT_FRESH) if it has neither expiresIn nor an
    /// apnsExpiration other than 0. After that its content is sent as a plain update. Newer content that waits behind
    /// an alert is sent with the alert.
    public struct Alert: Sendable, Hashable, Codable, ContractObject {
        /// The first line.
        public var title: LocalizedText? { didSet { kept = KeptText() } }
        /// The text below the title.
        public var body: LocalizedText? { didSet { kept = KeptText() } }
        /// The name of a sound file in the app, or default.
        public var sound: String? { didSet { kept = KeptText() } }
        private var kept = KeptText()

        /// Members that are `nil` are left out.
        public init(title: LocalizedText? = nil, body: LocalizedText? = nil, sound: String? = nil) {
            self.title = title
            self.body = body
            self.sound = sound
        }

        /// A text that is one already. It is written as it is.
        package init(text: [UInt8]) {
            self = (try? Self(json: JSONValue(decoding: text))) ?? Self()
            kept = KeptText(text)
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            title = try object.optional("title")
            body = try object.optional("body")
            sound = try object.optional("sound")
            kept = KeptText(object)
        }

        package func write(members object: inout JSONWriter) {
            if let title { object.member("title", title) }
            if let body { object.member("body", body) }
            if let sound { object.member("sound", sound) }
        }

        package func write(to json: inout JSONWriter) {
            kept.write(to: &json) { write(members: &$0) }
        }
    }
}
