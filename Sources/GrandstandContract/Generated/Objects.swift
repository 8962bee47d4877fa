// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// A refusal (RFC 9457). type ends in a ProblemKind, which programs compare; title and detail are for people. The
    /// members after apns belong to some kinds only: x-problems of ProblemKind lists which.
    public struct Problem: Sendable, Hashable, Codable, ContractObject {
        /// https://grandstand.dev/problems/ and the kind. It never changes.
        public var type: String
        /// A short sentence for the kind, always the same.
        public var title: String
        /// The HTTP status.
        public var status: Int
        /// What is wrong with this request, and what to do.
        public var detail: String
        /// Names the request in the server's log, as the header X-Request-Id does.
        public var requestId: String?
        /// The first 50 places that are wrong. detail says how many more there are.
        public var errors: [FieldError]?
        /// What APNs answered when it refused a call.
        public var apns: APNsRefusal?
        /// The most that is allowed: channels, bytes, values, streams or webhooks, as detail says.
        public var limit: Int?
        /// The app's channels at Apple in this environment.
        public var used: Int?
        /// Places held for channels that are being created.
        public var reserved: Int?
        /// The bytes that the message to APNs would have.
        public var size: Int?
        /// How many channels of the app remain.
        public var channels: Int?
        /// The newest sequence of this installation that the server knows.
        public var sequence: Int?
        /// The variants that the event has for the app.
        public var variants: [String]?
        /// The server's ID of the channel.
        public var id: String?
        /// How the server sees a channel.
        public var state: ChannelState?

        /// What is left out is not said.
        public init(
            type: String, title: String, status: Int, detail: String, requestId: String? = nil,
            errors: [FieldError]? = nil, apns: APNsRefusal? = nil, limit: Int? = nil, used: Int? = nil,
            reserved: Int? = nil, size: Int? = nil, channels: Int? = nil, sequence: Int? = nil,
            variants: [String]? = nil, id: String? = nil, state: ChannelState? = nil
        ) {
            self.type = type
            self.title = title
            self.status = status
            self.detail = detail
            self.requestId = requestId
            self.errors = errors
            self.apns = apns
            self.limit = limit
            self.used = used
            self.reserved = reserved
            self.size = size
            self.channels = channels
            self.sequence = sequence
            self.variants = variants
            self.id = id
            self.state = state
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            type = try object.required("type")
            title = try object.required("title")
            status = try object.required("status")
            detail = try object.required("detail")
            requestId = try object.optional("requestId")
            errors = try object.optional("errors")
            apns = try object.optional("apns")
            limit = try object.optional("limit")
            used = try object.optional("used")
            reserved = try object.optional("reserved")
            size = try object.optional("size")
            channels = try object.optional("channels")
            sequence = try object.optional("sequence")
            variants = try object.optional("variants")
            id = try object.optional("id")
            state = try object.optional("state")
        }

        package func write(members object: inout JSONWriter) {
            object.member("type", type)
            object.member("title", title)
            object.member("status", status)
            object.member("detail", detail)
            if let requestId { object.member("requestId", requestId) }
            if let errors { object.member("errors", errors) }
            if let apns { object.member("apns", apns) }
            if let limit { object.member("limit", limit) }
            if let used { object.member("used", used) }
            if let reserved { object.member("reserved", reserved) }
            if let size { object.member("size", size) }
            if let channels { object.member("channels", channels) }
            if let sequence { object.member("sequence", sequence) }
            if let variants { object.member("variants", variants) }
            if let id { object.member("id", id) }
            if let state { object.member("state", state) }
        }
    }
}

extension Contract {
    /// One place in the request that is wrong.
    public struct FieldError: Sendable, Hashable, Codable, ContractObject {
        /// A JSON Pointer into the body (RFC 6901), or the name of a parameter or header.
        public var pointer: String
        /// What was expected there.
        public var detail: String

        /// What is left out is not said.
        public init(pointer: String, detail: String) {
            self.pointer = pointer
            self.detail = detail
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            pointer = try object.required("pointer")
            detail = try object.required("detail")
        }

        package func write(members object: inout JSONWriter) {
            object.member("pointer", pointer)
            object.member("detail", detail)
        }
    }
}

extension Contract {
    /// What APNs answered when it refused a call.
    public struct APNsRefusal: Sendable, Hashable, Codable, ContractObject {
        /// The HTTP status of APNs.
        public var status: Int
        /// Apple's word for it, for example TooManyRequests.
        public var reason: String
        /// APNs' ID of the request, for Apple's support.
        public var requestId: String?

        /// What is left out is not said.
        public init(status: Int, reason: String, requestId: String? = nil) {
            self.status = status
            self.reason = reason
            self.requestId = requestId
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            status = try object.required("status")
            reason = try object.required("reason")
            requestId = try object.optional("requestId")
        }

        package func write(members object: inout JSONWriter) {
            object.member("status", status)
            object.member("reason", reason)
            object.member("requestId", requestId)
        }
    }
}

extension Contract {
    /// What an admin declares of an app.
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

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
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
}

extension Contract {
    /// Mustache templates that turn a contentState into the plain text that a lock screen would show, for the console.
    /// They may have names (`{{home}}`, `{{team.name}}`, `{{.}}`), sections, inverted sections and comments, but no
    /// partials, lambdas or other delimiters. A template that cannot be read is refused with the place (422).
    public struct AppPreview: Sendable, Hashable, Codable, ContractObject {
        /// One line, at most 2,000 bytes of UTF-8.
        public var compact: String?
        /// Several lines, at most 2,000 bytes of UTF-8.
        public var expanded: String?

        /// What is left out is not said.
        public init(compact: String? = nil, expanded: String? = nil) {
            self.compact = compact
            self.expanded = expanded
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
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
}

extension Contract {
    /// What differs from the app's own team and key, by environment.
    public struct Overrides: Sendable, Hashable, Codable, ContractObject {
        /// In APNs' development environment.
        public var development: Override?
        /// In APNs' production environment.
        public var production: Override?

        /// What is left out is not said.
        public init(development: Override? = nil, production: Override? = nil) {
            self.development = development
            self.production = production
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
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
}

extension Contract {
    /// Another team or key for one environment.
    public struct Override: Sendable, Hashable, Codable, ContractObject {
        /// The team there. Left out, the app's.
        public var teamId: String?
        /// The key there. Left out, the app's.
        public var keyId: String?

        /// What is left out is not said.
        public init(teamId: String? = nil, keyId: String? = nil) {
            self.teamId = teamId
            self.keyId = keyId
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
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
}

extension Contract {
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
        /// What APNs says of keys that it refuses, by environment.
        public var credentialRefusals: [String: CredentialRefusal]
        /// Where APNs behaves other than documented for this app.
        public var quirks: [Quirk]
        /// How people at the console see a contentState. null: as JSON.
        public var preview: AppPreview?
        /// When it was registered.
        public var createdAt: Date?
        /// When it was last changed.
        public var updatedAt: Date?

        /// What is left out is not said.
        public init(
            bundleId: String, topic: String, name: String, teamId: String, keyId: String, channelLimit: Int,
            environments: Overrides, credentials: [String: CredentialState],
            credentialRefusals: [String: CredentialRefusal], quirks: [Quirk], preview: AppPreview? = nil,
            createdAt: Date? = nil, updatedAt: Date? = nil
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
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
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
        }
    }
}

extension Contract {
    /// APNs refuses the provider tokens that a key signs. After two refusals in a row requests wait, and one is sent
    /// every three seconds, until APNs accepts one or the key file is replaced.
    public struct CredentialRefusal: Sendable, Hashable, Codable, ContractObject {
        /// Apple's word in the newest refusal.
        public var reason: String
        /// The time of the first refusal in a row.
        public var since: Date

        /// What is left out is not said.
        public init(reason: String, since: Date) {
            self.reason = reason
            self.since = since
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
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
}

extension Contract {
    /// An app as keys see it that ship in client apps.
    public struct AppName: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// The bundle ID in lower case.
        public var topic: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String

        /// What is left out is not said.
        public init(bundleId: String, topic: String, name: String) {
            self.bundleId = bundleId
            self.topic = topic
            self.name = name
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
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
}

extension Contract {
    /// A page of apps.
    public typealias AppPage = Page<App>
}

extension Contract {
    /// A page of apps as keys see them that ship in client apps.
    public typealias AppNamePage = Page<AppName>
}

extension Contract {
    /// A correction of a quirk.
    public struct QuirkDraft: Sendable, Hashable, Codable, ContractObject {
        /// One of the values of the quirk in the path.
        public var value: QuirkValue

        /// What is left out is not said.
        public init(value: QuirkValue) {
            self.value = value
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            value = try object.required("value")
        }

        package func write(members object: inout JSONWriter) {
            object.member("value", value)
        }
    }
}

extension Contract {
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

        /// What is left out is not said.
        public init(environment: Environment, quirk: QuirkName, value: QuirkValue, learnedAt: Date, evidence: String) {
            self.environment = environment
            self.quirk = quirk
            self.value = value
            self.learnedAt = learnedAt
            self.evidence = evidence
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            environment = try object.required("environment")
            quirk = try object.required("quirk")
            value = try object.required("value")
            learnedAt = try object.required("learnedAt")
            evidence = try object.required("evidence")
        }

        package func write(members object: inout JSONWriter) {
            object.member("environment", environment)
            object.member("quirk", quirk)
            object.member("value", value)
            object.member("learnedAt", learnedAt)
            object.member("evidence", evidence)
        }
    }
}

extension Contract {
    /// A channel to be created at Apple, without an event.
    public struct ChannelDraft: Sendable, Hashable, Codable, ContractObject {
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// A name for people, at most 200 characters.
        public var label: String?

        /// What is left out is not said.
        public init(storagePolicy: StoragePolicy, label: String? = nil) {
            self.storagePolicy = storagePolicy
            self.label = label
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            storagePolicy = try object.required("storagePolicy")
            label = try object.optional("label")
        }

        package func write(members object: inout JSONWriter) {
            object.member("storagePolicy", storagePolicy)
            if let label { object.member("label", label) }
        }
    }
}

extension Contract {
    /// A channel that was made elsewhere.
    public struct ChannelImport: Sendable, Hashable, Codable, ContractObject {
        /// Apple's ID of a channel, as it came. Apps pass it to ActivityKit, pushType .channel(…).
        public var channelId: String
        /// A name for people, at most 200 characters.
        public var label: String?
        /// The event that it shall serve. Left out, it serves none.
        public var eventKey: String?
        /// With eventKey only: the audience that it shall serve. Left out, the one without a variant.
        public var variant: String?

        /// What is left out is not said.
        public init(channelId: String, label: String? = nil, eventKey: String? = nil, variant: String? = nil) {
            self.channelId = channelId
            self.label = label
            self.eventKey = eventKey
            self.variant = variant
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            channelId = try object.required("channelId")
            label = try object.optional("label")
            eventKey = try object.optional("eventKey")
            variant = try object.optional("variant")
        }

        package func write(members object: inout JSONWriter) {
            object.member("channelId", channelId)
            if let label { object.member("label", label) }
            if let eventKey { object.member("eventKey", eventKey) }
            if let variant { object.member("variant", variant) }
        }
    }
}

extension Contract {
    /// A channel of the ledger, or with managed=false one that only Apple's list has. The latter has id null, and
    /// neither state, eventKey, label, reason, nextAttemptAt nor createdAt, but firstSeenAt.
    public struct Channel: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it, for paths.
        public var id: String?
        /// Apple's ID of it. null until Apple has answered.
        public var channelId: String?
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The variant of the audience that it serves, if that has one.
        public var variant: String?
        /// Its policy. null where Apple has not been asked for it.
        public var storagePolicy: StoragePolicy?
        /// How the server sees a channel.
        public var state: ChannelState?
        /// The event that it serves.
        public var eventKey: String?
        /// A name for people.
        public var label: String?
        /// Why it waits or failed.
        public var reason: String?
        /// When the server next calls Apple for it.
        public var nextAttemptAt: Date?
        /// When it was asked for or taken over.
        public var createdAt: Date?
        /// When it was first seen in Apple's list.
        public var firstSeenAt: Date?
        /// Whether the ledger has it.
        public var managed: Bool
        /// What Apple says of a channel just now. Only with verify=true.
        public var verified: Verification?

        /// What is left out is not said.
        public init(
            id: String? = nil, channelId: String? = nil, bundleId: String, environment: Environment,
            variant: String? = nil, storagePolicy: StoragePolicy? = nil, state: ChannelState? = nil,
            eventKey: String? = nil, label: String? = nil, reason: String? = nil, nextAttemptAt: Date? = nil,
            createdAt: Date? = nil, firstSeenAt: Date? = nil, managed: Bool, verified: Verification? = nil
        ) {
            self.id = id
            self.channelId = channelId
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.state = state
            self.eventKey = eventKey
            self.label = label
            self.reason = reason
            self.nextAttemptAt = nextAttemptAt
            self.createdAt = createdAt
            self.firstSeenAt = firstSeenAt
            self.managed = managed
            self.verified = verified
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.optional("id")
            channelId = try object.optional("channelId")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            storagePolicy = try object.optional("storagePolicy")
            state = try object.optional("state")
            eventKey = try object.optional("eventKey")
            label = try object.optional("label")
            reason = try object.optional("reason")
            nextAttemptAt = try object.optional("nextAttemptAt")
            createdAt = try object.optional("createdAt")
            firstSeenAt = try object.optional("firstSeenAt")
            managed = try object.required("managed")
            verified = try object.optional("verified")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("channelId", channelId)
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy)
            if let state { object.member("state", state) }
            if let eventKey { object.member("eventKey", eventKey) }
            if let label { object.member("label", label) }
            if let reason { object.member("reason", reason) }
            if let nextAttemptAt { object.member("nextAttemptAt", nextAttemptAt) }
            if let createdAt { object.member("createdAt", createdAt) }
            if let firstSeenAt { object.member("firstSeenAt", firstSeenAt) }
            object.member("managed", managed)
            if let verified { object.member("verified", verified) }
        }
    }
}

extension Contract {
    /// What Apple says of a channel just now. Only with verify=true.
    public struct Verification: Sendable, Hashable, Codable, ContractObject {
        /// Whether Apple has it.
        public var exists: Bool
        /// Its policy at Apple. null where Apple does not have it.
        public var storagePolicy: StoragePolicy?
        /// When Apple answered.
        public var at: Date

        /// What is left out is not said.
        public init(exists: Bool, storagePolicy: StoragePolicy? = nil, at: Date) {
            self.exists = exists
            self.storagePolicy = storagePolicy
            self.at = at
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            exists = try object.required("exists")
            storagePolicy = try object.optional("storagePolicy")
            at = try object.required("at")
        }

        package func write(members object: inout JSONWriter) {
            object.member("exists", exists)
            object.member("storagePolicy", storagePolicy)
            object.member("at", at)
        }
    }
}

extension Contract {
    /// A page of channels.
    public typealias ChannelPage = Page<Channel>
}

extension Contract {
    /// People to whom an event is shown: one app in one environment, and perhaps a variant. Each audience has a channel
    /// of its own.
    public struct Audience: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// Tells it from other audiences of the app and environment. Not with delivery tokens.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// How its activities are reached.
        public var delivery: AudienceDelivery?
        /// The priority of this audience's messages, where a broadcast gives none.
        public var priority: Int?

        /// What is left out is not said.
        public init(
            bundleId: String, environment: Environment, variant: String? = nil, storagePolicy: StoragePolicy,
            delivery: AudienceDelivery? = nil, priority: Int? = nil
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.delivery = delivery
            self.priority = priority
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            storagePolicy = try object.required("storagePolicy")
            delivery = try object.optional("delivery")
            priority = try object.optional("priority")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy)
            if let delivery { object.member("delivery", delivery) }
            if let priority { object.member("priority", priority) }
        }
    }
}

extension Contract {
    /// Names audiences of an event. Without variant all of the app and environment.
    public struct AudienceSelector: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// Only the audience of this variant.
        public var variant: String?

        /// What is left out is not said.
        public init(bundleId: String, environment: Environment, variant: String? = nil) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            if let variant { object.member("variant", variant) }
        }
    }
}

extension Contract {
    /// What an organiser declares of an event. The server makes its channels accordingly.
    public struct EventDraft: Sendable, Hashable, Codable, ContractObject {
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// A word by which organisers filter events, for example football. At most 64 characters.
        public var kind: String?
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end; not before startsAt. The server closes the event twelve hours after it, or after
        /// the last message, if no end was sent.
        public var endsAt: Date?
        /// When its channels are created. Without it and without channelsOpenBefore: at once. Not together with
        /// channelsOpenBefore.
        public var channelsOpenAt: Date?
        /// Its channels are created so many seconds before startsAt, which must be there; they move with it. Not
        /// together with channelsOpenAt.
        public var channelsOpenBefore: Int?
        /// To whom it is shown. bundleId, environment and variant together stand once.
        public var audiences: [Audience]
        /// JSON of the organiser, kept as it is. grandstand season writes its member season; the list's parameter
        /// season compares season.name.
        public var metadata: RawJSON?
        /// Who follows one of these gets the event's start; apps list events by them.
        public var topics: [String]?
        /// The push that starts its Live Activity. Without it no push does.
        public var start: StartDraft?
        /// What its messages have that do not say otherwise.
        public var defaults: EventDefaults?

        /// What is left out is not said.
        public init(
            name: String, kind: String? = nil, startsAt: Date? = nil, endsAt: Date? = nil, channelsOpenAt: Date? = nil,
            channelsOpenBefore: Int? = nil, audiences: [Audience], metadata: RawJSON? = nil, topics: [String]? = nil,
            start: StartDraft? = nil, defaults: EventDefaults? = nil
        ) {
            self.name = name
            self.kind = kind
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.channelsOpenAt = channelsOpenAt
            self.channelsOpenBefore = channelsOpenBefore
            self.audiences = audiences
            self.metadata = metadata
            self.topics = topics
            self.start = start
            self.defaults = defaults
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            name = try object.required("name")
            kind = try object.optional("kind")
            startsAt = try object.optional("startsAt")
            endsAt = try object.optional("endsAt")
            channelsOpenAt = try object.optional("channelsOpenAt")
            channelsOpenBefore = try object.optional("channelsOpenBefore")
            audiences = try object.required("audiences")
            metadata = try object.optional("metadata")
            topics = try object.optional("topics")
            start = try object.optional("start")
            defaults = try object.optional("defaults")
        }

        package func write(members object: inout JSONWriter) {
            object.member("name", name)
            if let kind { object.member("kind", kind) }
            if let startsAt { object.member("startsAt", startsAt) }
            if let endsAt { object.member("endsAt", endsAt) }
            if let channelsOpenAt { object.member("channelsOpenAt", channelsOpenAt) }
            if let channelsOpenBefore { object.member("channelsOpenBefore", channelsOpenBefore) }
            object.member("audiences", audiences)
            if let metadata { object.member("metadata", metadata) }
            if let topics { object.member("topics", topics) }
            if let start { object.member("start", start) }
            if let defaults { object.member("defaults", defaults) }
        }
    }
}

extension Contract {
    /// What an event's messages have that do not say otherwise.
    public struct EventDefaults: Sendable, Hashable, Codable, ContractObject {
        /// Their priority, also of alerts and ends. An audience's own goes before it.
        public var priority: Int?
        /// Seconds from the acceptance of a message, or from its sendAt, until the system marks its content as out of
        /// date (stale-date). At most twelve hours.
        public var staleAfter: Int?
        /// For updates only: the seconds for which one is worth sending. An end has eight hours.
        public var expiresIn: Int?
        /// Which of an app's activities is shown first. The highest wins.
        public var relevanceScore: Double?

        /// What is left out is not said.
        public init(priority: Int? = nil, staleAfter: Int? = nil, expiresIn: Int? = nil, relevanceScore: Double? = nil)
        {
            self.priority = priority
            self.staleAfter = staleAfter
            self.expiresIn = expiresIn
            self.relevanceScore = relevanceScore
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            priority = try object.optional("priority")
            staleAfter = try object.optional("staleAfter")
            expiresIn = try object.optional("expiresIn")
            relevanceScore = try object.optional("relevanceScore")
        }

        package func write(members object: inout JSONWriter) {
            if let priority { object.member("priority", priority) }
            if let staleAfter { object.member("staleAfter", staleAfter) }
            if let expiresIn { object.member("expiresIn", expiresIn) }
            if let relevanceScore { object.member("relevanceScore", relevanceScore) }
        }
    }
}

extension Contract {
    /// An event as it was declared, and what became of it. metadata has the bytes that were declared.
    public struct Event: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var key: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// A word by which organisers filter events.
        public var kind: String?
        /// How far an event is.
        public var state: EventState
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end.
        public var endsAt: Date?
        /// When its channels are created, if a time was declared.
        public var channelsOpenAt: Date?
        /// How many seconds before startsAt its channels are created, if that was declared.
        public var channelsOpenBefore: Int?
        /// To whom it is shown, with their channels.
        public var audiences: [EventAudience]
        /// JSON of the organiser, as it was declared. Without any, an empty object.
        public var metadata: RawJSON
        /// Who follows one of these gets the event's start.
        public var topics: [String]
        /// The push that starts its Live Activity. null: none does.
        public var start: Start?
        /// What its messages have that do not say otherwise. null: none were declared.
        public var defaults: EventDefaults?
        /// When it was first declared.
        public var createdAt: Date
        /// When it was last changed.
        public var updatedAt: Date
        /// When POST …/reopen last took its end or cancellation back. Only of an event of which that was done.
        public var reopenedAt: Date?
        /// Only in the answer to PUT and PATCH. Effects that may not be meant: followers that are lost (another storage
        /// policy, an audience removed without an end), scheduled broadcasts that keep their times while the event
        /// moves, go at once or after endsAt, a start's staleDate that is past.
        public var warnings: [String]?

        /// What is left out is not said.
        public init(
            key: String, name: String, kind: String? = nil, state: EventState, startsAt: Date? = nil,
            endsAt: Date? = nil, channelsOpenAt: Date? = nil, channelsOpenBefore: Int? = nil,
            audiences: [EventAudience], metadata: RawJSON, topics: [String], start: Start? = nil,
            defaults: EventDefaults? = nil, createdAt: Date, updatedAt: Date, reopenedAt: Date? = nil,
            warnings: [String]? = nil
        ) {
            self.key = key
            self.name = name
            self.kind = kind
            self.state = state
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.channelsOpenAt = channelsOpenAt
            self.channelsOpenBefore = channelsOpenBefore
            self.audiences = audiences
            self.metadata = metadata
            self.topics = topics
            self.start = start
            self.defaults = defaults
            self.createdAt = createdAt
            self.updatedAt = updatedAt
            self.reopenedAt = reopenedAt
            self.warnings = warnings
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            key = try object.required("key")
            name = try object.required("name")
            kind = try object.optional("kind")
            state = try object.required("state")
            startsAt = try object.optional("startsAt")
            endsAt = try object.optional("endsAt")
            channelsOpenAt = try object.optional("channelsOpenAt")
            channelsOpenBefore = try object.optional("channelsOpenBefore")
            audiences = try object.required("audiences")
            metadata = try object.required("metadata")
            topics = try object.required("topics")
            start = try object.optional("start")
            defaults = try object.optional("defaults")
            createdAt = try object.required("createdAt")
            updatedAt = try object.required("updatedAt")
            reopenedAt = try object.optional("reopenedAt")
            warnings = try object.optional("warnings")
        }

        package func write(members object: inout JSONWriter) {
            object.member("key", key)
            object.member("name", name)
            object.member("kind", kind)
            object.member("state", state)
            object.member("startsAt", startsAt)
            object.member("endsAt", endsAt)
            object.member("channelsOpenAt", channelsOpenAt)
            object.member("channelsOpenBefore", channelsOpenBefore)
            object.member("audiences", audiences)
            object.member("metadata", metadata)
            object.member("topics", topics)
            object.member("start", start)
            object.member("defaults", defaults)
            object.member("createdAt", createdAt)
            object.member("updatedAt", updatedAt)
            if let reopenedAt { object.member("reopenedAt", reopenedAt) }
            if let warnings { object.member("warnings", warnings) }
        }
    }
}

extension Contract {
    /// An event after its end or cancellation was taken back.
    public struct ReopenedEvent: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var key: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// A word by which organisers filter events.
        public var kind: String?
        /// How far an event is.
        public var state: EventState
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end.
        public var endsAt: Date?
        /// When its channels are created, if a time was declared.
        public var channelsOpenAt: Date?
        /// How many seconds before startsAt its channels are created, if that was declared.
        public var channelsOpenBefore: Int?
        /// To whom it is shown, with their channels.
        public var audiences: [EventAudience]
        /// JSON of the organiser, as it was declared.
        public var metadata: RawJSON
        /// Who follows one of these gets the event's start.
        public var topics: [String]
        /// The push that starts its Live Activity. null: none does.
        public var start: Start?
        /// What its messages have that do not say otherwise.
        public var defaults: EventDefaults?
        /// When it was first declared.
        public var createdAt: Date
        /// When it was last changed.
        public var updatedAt: Date
        /// When POST …/reopen last took its end or cancellation back. Only of an event of which that was done.
        public var reopenedAt: Date?
        /// The audiences that were opened again, and what became of their channels. Empty where the event was not over.
        public var channels: [ReopenedChannel]
        /// The broadcasts that this sends: the newest content once more, and updates that an end had replaced.
        public var broadcasts: [String]
        /// What cannot be taken back: ends that devices may have got, channels and followers that are lost.
        public var warnings: [String]

        /// What is left out is not said.
        public init(
            key: String, name: String, kind: String? = nil, state: EventState, startsAt: Date? = nil,
            endsAt: Date? = nil, channelsOpenAt: Date? = nil, channelsOpenBefore: Int? = nil,
            audiences: [EventAudience], metadata: RawJSON, topics: [String], start: Start? = nil,
            defaults: EventDefaults? = nil, createdAt: Date, updatedAt: Date, reopenedAt: Date? = nil,
            channels: [ReopenedChannel], broadcasts: [String], warnings: [String]
        ) {
            self.key = key
            self.name = name
            self.kind = kind
            self.state = state
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.channelsOpenAt = channelsOpenAt
            self.channelsOpenBefore = channelsOpenBefore
            self.audiences = audiences
            self.metadata = metadata
            self.topics = topics
            self.start = start
            self.defaults = defaults
            self.createdAt = createdAt
            self.updatedAt = updatedAt
            self.reopenedAt = reopenedAt
            self.channels = channels
            self.broadcasts = broadcasts
            self.warnings = warnings
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            key = try object.required("key")
            name = try object.required("name")
            kind = try object.optional("kind")
            state = try object.required("state")
            startsAt = try object.optional("startsAt")
            endsAt = try object.optional("endsAt")
            channelsOpenAt = try object.optional("channelsOpenAt")
            channelsOpenBefore = try object.optional("channelsOpenBefore")
            audiences = try object.required("audiences")
            metadata = try object.required("metadata")
            topics = try object.required("topics")
            start = try object.optional("start")
            defaults = try object.optional("defaults")
            createdAt = try object.required("createdAt")
            updatedAt = try object.required("updatedAt")
            reopenedAt = try object.optional("reopenedAt")
            channels = try object.required("channels")
            broadcasts = try object.required("broadcasts")
            warnings = try object.required("warnings")
        }

        package func write(members object: inout JSONWriter) {
            object.member("key", key)
            object.member("name", name)
            object.member("kind", kind)
            object.member("state", state)
            object.member("startsAt", startsAt)
            object.member("endsAt", endsAt)
            object.member("channelsOpenAt", channelsOpenAt)
            object.member("channelsOpenBefore", channelsOpenBefore)
            object.member("audiences", audiences)
            object.member("metadata", metadata)
            object.member("topics", topics)
            object.member("start", start)
            object.member("defaults", defaults)
            object.member("createdAt", createdAt)
            object.member("updatedAt", updatedAt)
            if let reopenedAt { object.member("reopenedAt", reopenedAt) }
            object.member("channels", channels)
            object.member("broadcasts", broadcasts)
            object.member("warnings", warnings)
        }
    }
}

extension Contract {
    /// What became of one audience's channel when its event was opened again.
    public struct ReopenedChannel: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The audience's variant, if it has one.
        public var variant: String?
        /// What became of an audience's channel when its event was opened again.
        public var channel: ChannelFate

        /// What is left out is not said.
        public init(bundleId: String, environment: Environment, variant: String? = nil, channel: ChannelFate) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.channel = channel
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            channel = try object.required("channel")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            if let variant { object.member("variant", variant) }
            object.member("channel", channel)
        }
    }
}

extension Contract {
    /// Which audiences to open again.
    public struct ReopenOrder: Sendable, Hashable, Codable, ContractObject {
        /// Only these. Left out: all.
        public var audiences: [AudienceSelector]?

        /// What is left out is not said.
        public init(audiences: [AudienceSelector]? = nil) {
            self.audiences = audiences
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            audiences = try object.optional("audiences")
        }

        package func write(members object: inout JSONWriter) {
            if let audiences { object.member("audiences", audiences) }
        }
    }
}

extension Contract {
    /// An audience of an event, with its channel.
    public struct EventAudience: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// Its variant, if it has one.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// How the activities of an audience are reached. The organiser decides. Left out, it is channel.
        public var delivery: AudienceDelivery
        /// The priority of its messages where a broadcast gives none, if one was declared.
        public var priority: Int?
        /// How far the channel of an audience is.
        public var channel: AudienceChannel

        /// What is left out is not said.
        public init(
            bundleId: String, environment: Environment, variant: String? = nil, storagePolicy: StoragePolicy,
            delivery: AudienceDelivery, priority: Int? = nil, channel: AudienceChannel
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.delivery = delivery
            self.priority = priority
            self.channel = channel
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            storagePolicy = try object.required("storagePolicy")
            delivery = try object.required("delivery")
            priority = try object.optional("priority")
            channel = try object.required("channel")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy)
            object.member("delivery", delivery)
            if let priority { object.member("priority", priority) }
            object.member("channel", channel)
        }
    }
}

extension Contract {
    /// How far the channel of an audience is.
    public struct AudienceChannel: Sendable, Hashable, Codable, ContractObject {
        /// How far the channel of an audience is, as organisers see it.
        public var state: AudienceChannelState
        /// Apple's ID of it, once Apple has answered.
        public var channelId: String?
        /// Why it waits or failed.
        public var reason: String?
        /// When the server next calls Apple for it.
        public var nextAttemptAt: Date?

        /// What is left out is not said.
        public init(
            state: AudienceChannelState, channelId: String? = nil, reason: String? = nil, nextAttemptAt: Date? = nil
        ) {
            self.state = state
            self.channelId = channelId
            self.reason = reason
            self.nextAttemptAt = nextAttemptAt
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            state = try object.required("state")
            channelId = try object.optional("channelId")
            reason = try object.optional("reason")
            nextAttemptAt = try object.optional("nextAttemptAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("state", state)
            if let channelId { object.member("channelId", channelId) }
            if let reason { object.member("reason", reason) }
            if let nextAttemptAt { object.member("nextAttemptAt", nextAttemptAt) }
        }
    }
}

extension Contract {
    /// A page of events.
    public typealias EventPage = Page<Event>
}

extension Contract {
    /// The push that starts the event's Live Activity for everyone who follows one of its topics, once each. It shows
    /// the newest accepted content; contentState is shown until there is some, and without it no push is made before.
    /// With the longest alert the push may have 4,096 bytes (413 payload-too-large).
    public struct StartDraft: Sendable, Hashable, Codable, ContractObject {
        /// When. Left out, at startsAt, which must be there then.
        public var at: Date?
        /// After at. Who begins to follow before this gets it then. Left out, until endsAt, and without that for four
        /// hours.
        public var until: Date?
        /// The name of the app's Swift type of ActivityAttributes, at most 128 characters.
        public var attributesType: String
        /// The static attributes of the activity. They reach the app byte for byte.
        public var attributes: RawJSON
        /// What it shows until a broadcast with content is accepted. It reaches the app byte for byte.
        public var contentState: RawJSON?
        /// The alert, byte for byte. Apple starts no activity without one.
        public var alert: Alert
        /// Alerts by BCP 47 tags, byte for byte. An installation gets the best match of its locale (RFC 4647 lookup),
        /// else alert. Capitals do not tell tags apart.
        public var alertsByLocale: [String: Alert]?
        /// From when on the system marks contentState as out of date. Fractions of seconds are cut off.
        public var staleDate: Date?
        /// Only these audiences of the event. Left out: all. Where an app has several in an environment, its activities
        /// start on the one without a variant, else on the first that is not over.
        public var audiences: [AudienceSelector]?

        /// What is left out is not said.
        public init(
            at: Date? = nil, until: Date? = nil, attributesType: String, attributes: RawJSON,
            contentState: RawJSON? = nil, alert: Alert, alertsByLocale: [String: Alert]? = nil, staleDate: Date? = nil,
            audiences: [AudienceSelector]? = nil
        ) {
            self.at = at
            self.until = until
            self.attributesType = attributesType
            self.attributes = attributes
            self.contentState = contentState
            self.alert = alert
            self.alertsByLocale = alertsByLocale
            self.staleDate = staleDate
            self.audiences = audiences
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            at = try object.optional("at")
            until = try object.optional("until")
            attributesType = try object.required("attributesType")
            attributes = try object.required("attributes")
            contentState = try object.optional("contentState")
            alert = try object.required("alert")
            alertsByLocale = try object.optional("alertsByLocale")
            staleDate = try object.optional("staleDate")
            audiences = try object.optional("audiences")
        }

        package func write(members object: inout JSONWriter) {
            if let at { object.member("at", at) }
            if let until { object.member("until", until) }
            object.member("attributesType", attributesType)
            object.member("attributes", attributes)
            if let contentState { object.member("contentState", contentState) }
            object.member("alert", alert)
            if let alertsByLocale { object.member("alertsByLocale", alertsByLocale) }
            if let staleDate { object.member("staleDate", staleDate) }
            if let audiences { object.member("audiences", audiences) }
        }
    }
}

extension Contract {
    /// The start of an event as it was declared. Members that were left out are null.
    public struct Start: Sendable, Hashable, Codable, ContractObject {
        /// When. null: at startsAt.
        public var at: Date?
        /// Who begins to follow before this gets it then. null: until endsAt, and without that for four hours.
        public var until: Date?
        /// The name of the app's Swift type of ActivityAttributes, at most 128 characters.
        public var attributesType: String
        /// The static attributes of the activity.
        public var attributes: RawJSON
        /// What it shows until a broadcast with content is accepted.
        public var contentState: RawJSON?
        /// The alert.
        public var alert: Alert
        /// Alerts by BCP 47 tags.
        public var alertsByLocale: [String: Alert]?
        /// From when on the system marks contentState as out of date.
        public var staleDate: Date?
        /// Only these audiences of the event. null: all.
        public var audiences: [AudienceSelector]?

        /// What is left out is not said.
        public init(
            at: Date? = nil, until: Date? = nil, attributesType: String, attributes: RawJSON,
            contentState: RawJSON? = nil, alert: Alert, alertsByLocale: [String: Alert]? = nil, staleDate: Date? = nil,
            audiences: [AudienceSelector]? = nil
        ) {
            self.at = at
            self.until = until
            self.attributesType = attributesType
            self.attributes = attributes
            self.contentState = contentState
            self.alert = alert
            self.alertsByLocale = alertsByLocale
            self.staleDate = staleDate
            self.audiences = audiences
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            at = try object.optional("at")
            until = try object.optional("until")
            attributesType = try object.required("attributesType")
            attributes = try object.required("attributes")
            contentState = try object.optional("contentState")
            alert = try object.required("alert")
            alertsByLocale = try object.optional("alertsByLocale")
            staleDate = try object.optional("staleDate")
            audiences = try object.optional("audiences")
        }

        package func write(members object: inout JSONWriter) {
            object.member("at", at)
            object.member("until", until)
            object.member("attributesType", attributesType)
            object.member("attributes", attributes)
            object.member("contentState", contentState)
            object.member("alert", alert)
            object.member("alertsByLocale", alertsByLocale)
            object.member("staleDate", staleDate)
            object.member("audiences", audiences)
        }
    }
}

extension Contract {
    /// How to start.
    public struct StartOrder: Sendable, Hashable, Codable, ContractObject {
        /// true: count only, and send nothing.
        public var dryRun: Bool?

        /// What is left out is not said.
        public init(dryRun: Bool? = nil) {
            self.dryRun = dryRun
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            dryRun = try object.optional("dryRun")
        }

        package func write(members object: inout JSONWriter) {
            if let dryRun { object.member("dryRun", dryRun) }
        }
    }
}

extension Contract {
    /// Followers by what became of their start. followers is the sum of accepted, rejected, unknown, pending and the
    /// numbers in ineligible, also when the start is over.
    public struct StartCounts: Sendable, Hashable, Codable, ContractObject {
        /// Installations that follow one of the event's topics.
        public var followers: Int
        /// APNs answered 200. That does not mean that it was shown.
        public var accepted: Int
        /// Of these, the app reported the activity.
        public var confirmed: Int
        /// APNs refused the push. byReason says why.
        public var rejected: Int
        /// APNs did not answer. The push is not repeated, because it may have been made.
        public var unknown: Int
        /// Not answered yet, or to be sent.
        public var pending: Int
        /// Followers who get no start, by the reason.
        public var ineligible: IneligibleCounts

        /// What is left out is not said.
        public init(
            followers: Int, accepted: Int, confirmed: Int, rejected: Int, unknown: Int, pending: Int,
            ineligible: IneligibleCounts
        ) {
            self.followers = followers
            self.accepted = accepted
            self.confirmed = confirmed
            self.rejected = rejected
            self.unknown = unknown
            self.pending = pending
            self.ineligible = ineligible
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            followers = try object.required("followers")
            accepted = try object.required("accepted")
            confirmed = try object.required("confirmed")
            rejected = try object.required("rejected")
            unknown = try object.required("unknown")
            pending = try object.required("pending")
            ineligible = try object.required("ineligible")
        }

        package func write(members object: inout JSONWriter) {
            object.member("followers", followers)
            object.member("accepted", accepted)
            object.member("confirmed", confirmed)
            object.member("rejected", rejected)
            object.member("unknown", unknown)
            object.member("pending", pending)
            object.member("ineligible", ineligible)
        }
    }
}

extension Contract {
    /// Followers who get no start, by the reason.
    public struct IneligibleCounts: Sendable, Hashable, Codable, ContractObject {
        /// Their system is older than iOS 17.2.
        public var system: Int
        /// They switched Live Activities off.
        public var disabled: Int
        /// They have no usable start token of the attributes' type.
        public var noToken: Int
        /// The event ended, the start's time was over, or it was stopped before theirs was sent. They get it if the
        /// start goes on.
        public var tooLate: Int

        /// What is left out is not said.
        public init(system: Int, disabled: Int, noToken: Int, tooLate: Int) {
            self.system = system
            self.disabled = disabled
            self.noToken = noToken
            self.tooLate = tooLate
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            system = try object.required("system")
            disabled = try object.required("disabled")
            noToken = try object.required("noToken")
            tooLate = try object.required("tooLate")
        }

        package func write(members object: inout JSONWriter) {
            object.member("system", system)
            object.member("disabled", disabled)
            object.member("noToken", noToken)
            object.member("tooLate", tooLate)
        }
    }
}

extension Contract {
    /// What has become of an event's start, in all and for each audience.
    public struct StartReport: Sendable, Hashable, Codable, ContractObject {
        /// How far the start of an event is.
        public var state: StartState
        /// When the first push was made.
        public var startedAt: Date?
        /// When nothing was left to send for the last time.
        public var finishedAt: Date?
        /// Followers by what became of their start. followers is the sum of accepted, rejected, unknown, pending and
        /// the numbers in ineligible, also when the start is over.
        public var counts: StartCounts
        /// How many were rejected, by Apple's reason.
        public var byReason: [String: Int]
        /// Pushes answered in a second, from the first one until nothing was left. Later followers do not count.
        public var perSecond: Double?
        /// Who asked for it by hand, else who declared it, as actor of the audit log. null: it was not recorded.
        public var by: String?
        /// The same for each app and environment.
        public var audiences: [AudienceStart]

        /// What is left out is not said.
        public init(
            state: StartState, startedAt: Date? = nil, finishedAt: Date? = nil, counts: StartCounts,
            byReason: [String: Int], perSecond: Double? = nil, by: String? = nil, audiences: [AudienceStart]
        ) {
            self.state = state
            self.startedAt = startedAt
            self.finishedAt = finishedAt
            self.counts = counts
            self.byReason = byReason
            self.perSecond = perSecond
            self.by = by
            self.audiences = audiences
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            state = try object.required("state")
            startedAt = try object.optional("startedAt")
            finishedAt = try object.optional("finishedAt")
            counts = try object.required("counts")
            byReason = try object.required("byReason")
            perSecond = try object.optional("perSecond")
            by = try object.optional("by")
            audiences = try object.required("audiences")
        }

        package func write(members object: inout JSONWriter) {
            object.member("state", state)
            object.member("startedAt", startedAt)
            object.member("finishedAt", finishedAt)
            object.member("counts", counts)
            object.member("byReason", byReason)
            object.member("perSecond", perSecond)
            object.member("by", by)
            object.member("audiences", audiences)
        }
    }
}

extension Contract {
    /// What has become of a start for one app and environment.
    public struct AudienceStart: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The variant of the audience on which it starts, if that has one.
        public var variant: String?
        /// How far the start of an event is.
        public var state: StartState
        /// When the first push was made.
        public var startedAt: Date?
        /// When nothing was left to send for the last time.
        public var finishedAt: Date?
        /// Followers by what became of their start. followers is the sum of accepted, rejected, unknown, pending and
        /// the numbers in ineligible, also when the start is over.
        public var counts: StartCounts
        /// How many were rejected, by Apple's reason.
        public var byReason: [String: Int]
        /// Pushes answered in a second, from the first one until nothing was left.
        public var perSecond: Double?

        /// What is left out is not said.
        public init(
            bundleId: String, environment: Environment, variant: String? = nil, state: StartState,
            startedAt: Date? = nil, finishedAt: Date? = nil, counts: StartCounts, byReason: [String: Int],
            perSecond: Double? = nil
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.state = state
            self.startedAt = startedAt
            self.finishedAt = finishedAt
            self.counts = counts
            self.byReason = byReason
            self.perSecond = perSecond
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            state = try object.required("state")
            startedAt = try object.optional("startedAt")
            finishedAt = try object.optional("finishedAt")
            counts = try object.required("counts")
            byReason = try object.required("byReason")
            perSecond = try object.optional("perSecond")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            if let variant { object.member("variant", variant) }
            object.member("state", state)
            object.member("startedAt", startedAt)
            object.member("finishedAt", finishedAt)
            object.member("counts", counts)
            object.member("byReason", byReason)
            object.member("perSecond", perSecond)
        }
    }
}

extension Contract {
    /// A topic, and how many follow it.
    public struct FollowedTopic: Sendable, Hashable, Codable, ContractObject {
        /// Something that people follow, for example a team or a league. The organiser and the app agree on its name.
        public var topic: String
        /// How many installations follow it.
        public var followers: Int

        /// What is left out is not said.
        public init(topic: String, followers: Int) {
            self.topic = topic
            self.followers = followers
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            topic = try object.required("topic")
            followers = try object.required("followers")
        }

        package func write(members object: inout JSONWriter) {
            object.member("topic", topic)
            object.member("followers", followers)
        }
    }
}

extension Contract {
    /// A page of topics.
    public typealias TopicPage = Page<FollowedTopic>
}

extension Contract {
    /// What an app needs to start a Live Activity for an event.
    public struct Lookup: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// Apple's ID of the channel, for pushType .channel(…). null only where delivery is tokens.
        public var channelId: String?
        /// Only where it is tokens: the event has no channel for this app. Start the activity with a token of its own
        /// and report that.
        public var delivery: AudienceDelivery?
        /// The variant of the audience that was found, if it has one.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// How far an event is.
        public var state: EventState
        /// When the event is planned to start.
        public var startsAt: Date?
        /// When the event is planned to end.
        public var endsAt: Date?
        /// The newest accepted content, with include=contentState and once there is some.
        public var contentState: RawJSON?
        /// aps.timestamp of the message with this content, in seconds since 1970. Before it is sent, the lowest that it
        /// can get.
        public var timestamp: Int?

        /// What is left out is not said.
        public init(
            eventKey: String, channelId: String? = nil, delivery: AudienceDelivery? = nil, variant: String? = nil,
            storagePolicy: StoragePolicy, state: EventState, startsAt: Date? = nil, endsAt: Date? = nil,
            contentState: RawJSON? = nil, timestamp: Int? = nil
        ) {
            self.eventKey = eventKey
            self.channelId = channelId
            self.delivery = delivery
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.state = state
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.contentState = contentState
            self.timestamp = timestamp
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            channelId = try object.optional("channelId")
            delivery = try object.optional("delivery")
            variant = try object.optional("variant")
            storagePolicy = try object.required("storagePolicy")
            state = try object.required("state")
            startsAt = try object.optional("startsAt")
            endsAt = try object.optional("endsAt")
            contentState = try object.optional("contentState")
            timestamp = try object.optional("timestamp")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("channelId", channelId)
            if let delivery { object.member("delivery", delivery) }
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy)
            object.member("state", state)
            object.member("startsAt", startsAt)
            object.member("endsAt", endsAt)
            if let contentState { object.member("contentState", contentState) }
            if let timestamp { object.member("timestamp", timestamp) }
        }
    }
}

extension Contract {
    /// An event that an app may offer to follow.
    public struct Followable: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// Apple's ID of the channel. null while there is none yet, and where delivery is tokens.
        public var channelId: String?
        /// Only where it is tokens: the event has no channel for this app.
        public var delivery: AudienceDelivery?
        /// The variant of the audience, if it has one.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// The states of events that people can still follow.
        public var state: FollowableState
        /// When the event is planned to start.
        public var startsAt: Date?
        /// When the event is planned to end.
        public var endsAt: Date?
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// A word by which organisers filter events.
        public var kind: String?
        /// What people follow to get its start.
        public var topics: [String]

        /// What is left out is not said.
        public init(
            eventKey: String, channelId: String? = nil, delivery: AudienceDelivery? = nil, variant: String? = nil,
            storagePolicy: StoragePolicy, state: FollowableState, startsAt: Date? = nil, endsAt: Date? = nil,
            name: String, kind: String? = nil, topics: [String]
        ) {
            self.eventKey = eventKey
            self.channelId = channelId
            self.delivery = delivery
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.state = state
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.name = name
            self.kind = kind
            self.topics = topics
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            channelId = try object.optional("channelId")
            delivery = try object.optional("delivery")
            variant = try object.optional("variant")
            storagePolicy = try object.required("storagePolicy")
            state = try object.required("state")
            startsAt = try object.optional("startsAt")
            endsAt = try object.optional("endsAt")
            name = try object.required("name")
            kind = try object.optional("kind")
            topics = try object.required("topics")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("channelId", channelId)
            if let delivery { object.member("delivery", delivery) }
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy)
            object.member("state", state)
            object.member("startsAt", startsAt)
            object.member("endsAt", endsAt)
            object.member("name", name)
            object.member("kind", kind)
            object.member("topics", topics)
        }
    }
}

extension Contract {
    /// A page of events that an app may offer to follow.
    public typealias FollowablePage = Page<Followable>
}

extension Contract {
    /// Which events to look up.
    public struct LookupBatch: Sendable, Hashable, Codable, ContractObject {
        /// Keys of events. One that cannot be a key is reported as missing.
        public var eventKeys: [String]

        /// What is left out is not said.
        public init(eventKeys: [String]) {
            self.eventKeys = eventKeys
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKeys = try object.required("eventKeys")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKeys", eventKeys)
        }
    }
}

extension Contract {
    /// The lookups that found a channel, and the reason for each that did not.
    public struct LookupBatchAnswer: Sendable, Hashable, Codable, ContractObject {
        /// Those that were found, in the order of the request.
        public var items: [Lookup]
        /// Those that were not found, in the order of the request.
        public var missing: [MissingLookup]

        /// What is left out is not said.
        public init(items: [Lookup], missing: [MissingLookup]) {
            self.items = items
            self.missing = missing
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            items = try object.required("items")
            missing = try object.required("missing")
        }

        package func write(members object: inout JSONWriter) {
            object.member("items", items)
            object.member("missing", missing)
        }
    }
}

extension Contract {
    /// An event of a batch without a channel.
    public struct MissingLookup: Sendable, Hashable, Codable, ContractObject {
        /// As it was asked for.
        public var eventKey: String
        /// Why a lookup of one event in a batch found no channel.
        public var reason: MissingReason

        /// What is left out is not said.
        public init(eventKey: String, reason: MissingReason) {
            self.eventKey = eventKey
            self.reason = reason
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            reason = try object.required("reason")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("reason", reason)
        }
    }
}

extension Contract {
    /// A text for people, as it is or by a key that the app translates.
    public enum LocalizedText: Sendable, Hashable, Codable, ContractValue {
        case text(String)
        case localized(LocalizedKey)

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
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
}

extension Contract {
    /// A text that the app translates.
    public struct LocalizedKey: Sendable, Hashable, Codable, ContractObject {
        /// The key in the app's Localizable.strings.
        public var locKey: String
        /// What takes the place of the key's variables, in order.
        public var locArgs: [String]?

        /// What is left out is not said.
        public init(locKey: String, locArgs: [String]? = nil) {
            self.locKey = locKey
            self.locArgs = locArgs
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
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
}

extension Contract {
    /// Makes the device ring and light up. It needs a title or a body that is not empty. An alert rings until the
    /// message expires; without expiresIn (or an apnsExpiration other than 0) for 15 minutes (GRANDSTAND_ALERT_FRESH).
    /// Then its content goes on as a plain update. Newer content that waits behind an alert is sent with it.
    public struct Alert: Sendable, Hashable, Codable, ContractObject {
        /// The first line.
        public var title: LocalizedText?
        /// The text below the title.
        public var body: LocalizedText?
        /// The name of a sound file in the app, or default.
        public var sound: String?

        /// What is left out is not said.
        public init(title: LocalizedText? = nil, body: LocalizedText? = nil, sound: String? = nil) {
            self.title = title
            self.body = body
            self.sound = sound
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            title = try object.optional("title")
            body = try object.optional("body")
            sound = try object.optional("sound")
        }

        package func write(members object: inout JSONWriter) {
            if let title { object.member("title", title) }
            if let body { object.member("body", body) }
            if let sound { object.member("sound", sound) }
        }
    }
}

extension Contract {
    /// When a broadcast is sent: at a time, or so many seconds after startsAt of its event. The latter moves with the
    /// event while the broadcast is scheduled, and is refused where no startsAt is known. A time that is past means at
    /// once.
    public enum SendTime: Sendable, Hashable, Codable, ContractValue {
        case at(Date)
        case afterStart(AfterStart)

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(json: JSONValue) throws {
            if let value = try? Date(json: json) {
                self = .at(value)
                return
            }
            self = .afterStart(try AfterStart(json: json))
        }

        package func write(to json: inout JSONWriter) {
            switch self {
            case .at(let value): value.write(to: &json)
            case .afterStart(let value): value.write(to: &json)
            }
        }
    }
}

extension Contract {
    /// A time that is counted from the start of the event.
    public struct AfterStart: Sendable, Hashable, Codable, ContractObject {
        /// Seconds from startsAt of the event, negative for a time before it. At most a year.
        public var afterStart: Int

        /// What is left out is not said.
        public init(afterStart: Int) {
            self.afterStart = afterStart
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            afterStart = try object.required("afterStart")
        }

        package func write(members object: inout JSONWriter) {
            object.member("afterStart", afterStart)
        }
    }
}

extension Contract {
    /// A message to everybody who follows an event, or to a channel.
    public struct BroadcastDraft: Sendable, Hashable, Codable, ContractObject {
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// What activities show. It reaches the app byte for byte. Required for update; an end without it leaves what
        /// is shown.
        public var contentState: RawJSON?
        /// Makes the device ring. It reaches the app byte for byte.
        public var alert: Alert?
        /// What audiences of some variants get instead of contentState, of alert or of both.
        public var byVariant: [String: VariantContent]?
        /// Only these audiences of the event. Left out: all. Not for a channel without an event.
        public var audiences: [AudienceSelector]?
        /// How urgently APNs passes it on: 10 at once, 5 with regard to the battery, 1 the lowest. Left out, the
        /// audience's priority, then the event's default, then 10 for an end or an alert and 5 for other updates.
        public var priority: Int?
        /// Seconds for which it is worth sending. After that the server stops trying, and APNs keeps it no longer for
        /// devices that are offline. Left out, the event's default for updates, else eight hours. Not together with
        /// apnsExpiration.
        public var expiresIn: Int?
        /// The header apns-expiration itself, in seconds since 1970, or 0 for one attempt that is not stored. expiresIn
        /// suits most. Not together with expiresIn.
        public var apnsExpiration: Int?
        /// From when on the system marks the content as out of date. Fractions of seconds are cut off.
        public var staleDate: Date?
        /// Only with end: when the system removes the ended activity, at most four hours after it is sent, because
        /// Apple keeps it no longer. A past time removes it at once.
        public var dismissalDate: Date?
        /// Which of an app's activities is shown first. The highest wins.
        public var relevanceScore: Double?
        /// When it is sent. Left out: at once.
        public var sendAt: SendTime?

        /// What is left out is not said.
        public init(
            event: BroadcastKind, contentState: RawJSON? = nil, alert: Alert? = nil,
            byVariant: [String: VariantContent]? = nil, audiences: [AudienceSelector]? = nil, priority: Int? = nil,
            expiresIn: Int? = nil, apnsExpiration: Int? = nil, staleDate: Date? = nil, dismissalDate: Date? = nil,
            relevanceScore: Double? = nil, sendAt: SendTime? = nil
        ) {
            self.event = event
            self.contentState = contentState
            self.alert = alert
            self.byVariant = byVariant
            self.audiences = audiences
            self.priority = priority
            self.expiresIn = expiresIn
            self.apnsExpiration = apnsExpiration
            self.staleDate = staleDate
            self.dismissalDate = dismissalDate
            self.relevanceScore = relevanceScore
            self.sendAt = sendAt
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            event = try object.required("event")
            contentState = try object.optional("contentState")
            alert = try object.optional("alert")
            byVariant = try object.optional("byVariant")
            audiences = try object.optional("audiences")
            priority = try object.optional("priority")
            expiresIn = try object.optional("expiresIn")
            apnsExpiration = try object.optional("apnsExpiration")
            staleDate = try object.optional("staleDate")
            dismissalDate = try object.optional("dismissalDate")
            relevanceScore = try object.optional("relevanceScore")
            sendAt = try object.optional("sendAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("event", event)
            if let contentState { object.member("contentState", contentState) }
            if let alert { object.member("alert", alert) }
            if let byVariant { object.member("byVariant", byVariant) }
            if let audiences { object.member("audiences", audiences) }
            if let priority { object.member("priority", priority) }
            if let expiresIn { object.member("expiresIn", expiresIn) }
            if let apnsExpiration { object.member("apnsExpiration", apnsExpiration) }
            if let staleDate { object.member("staleDate", staleDate) }
            if let dismissalDate { object.member("dismissalDate", dismissalDate) }
            if let relevanceScore { object.member("relevanceScore", relevanceScore) }
            if let sendAt { object.member("sendAt", sendAt) }
        }
    }
}

extension Contract {
    /// What the audiences of one variant get instead.
    public struct VariantContent: Sendable, Hashable, Codable, ContractObject {
        /// What they show. It reaches the app byte for byte.
        public var contentState: RawJSON?
        /// Makes their devices ring. It reaches the app byte for byte.
        public var alert: Alert?

        /// What is left out is not said.
        public init(contentState: RawJSON? = nil, alert: Alert? = nil) {
            self.contentState = contentState
            self.alert = alert
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            contentState = try object.optional("contentState")
            alert = try object.optional("alert")
        }

        package func write(members object: inout JSONWriter) {
            if let contentState { object.member("contentState", contentState) }
            if let alert { object.member("alert", alert) }
        }
    }
}

extension Contract {
    /// A broadcast of a batch.
    public struct BroadcastItem: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// What activities show. It reaches the app byte for byte. Required for update; an end without it leaves what
        /// is shown.
        public var contentState: RawJSON?
        /// Makes the device ring. It reaches the app byte for byte.
        public var alert: Alert?
        /// What audiences of some variants get instead of contentState, of alert or of both.
        public var byVariant: [String: VariantContent]?
        /// Only these audiences of the event. Left out: all.
        public var audiences: [AudienceSelector]?
        /// How urgently APNs passes it on, as of a single broadcast.
        public var priority: Int?
        /// Seconds for which it is worth sending, as of a single broadcast. Not together with apnsExpiration.
        public var expiresIn: Int?
        /// The header apns-expiration itself, as of a single broadcast. Not together with expiresIn.
        public var apnsExpiration: Int?
        /// From when on the system marks the content as out of date. Fractions of seconds are cut off.
        public var staleDate: Date?
        /// Only with end: when the system removes the ended activity, at most four hours after it is sent. A past time
        /// removes it at once.
        public var dismissalDate: Date?
        /// Which of an app's activities is shown first. The highest wins.
        public var relevanceScore: Double?
        /// When it is sent. Left out: at once.
        public var sendAt: SendTime?

        /// What is left out is not said.
        public init(
            eventKey: String, event: BroadcastKind, contentState: RawJSON? = nil, alert: Alert? = nil,
            byVariant: [String: VariantContent]? = nil, audiences: [AudienceSelector]? = nil, priority: Int? = nil,
            expiresIn: Int? = nil, apnsExpiration: Int? = nil, staleDate: Date? = nil, dismissalDate: Date? = nil,
            relevanceScore: Double? = nil, sendAt: SendTime? = nil
        ) {
            self.eventKey = eventKey
            self.event = event
            self.contentState = contentState
            self.alert = alert
            self.byVariant = byVariant
            self.audiences = audiences
            self.priority = priority
            self.expiresIn = expiresIn
            self.apnsExpiration = apnsExpiration
            self.staleDate = staleDate
            self.dismissalDate = dismissalDate
            self.relevanceScore = relevanceScore
            self.sendAt = sendAt
        }

        /// The same of what is said already.
        public init(eventKey: String, _ draft: BroadcastDraft) {
            self.eventKey = eventKey
            self.event = draft.event
            self.contentState = draft.contentState
            self.alert = draft.alert
            self.byVariant = draft.byVariant
            self.audiences = draft.audiences
            self.priority = draft.priority
            self.expiresIn = draft.expiresIn
            self.apnsExpiration = draft.apnsExpiration
            self.staleDate = draft.staleDate
            self.dismissalDate = draft.dismissalDate
            self.relevanceScore = draft.relevanceScore
            self.sendAt = draft.sendAt
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            event = try object.required("event")
            contentState = try object.optional("contentState")
            alert = try object.optional("alert")
            byVariant = try object.optional("byVariant")
            audiences = try object.optional("audiences")
            priority = try object.optional("priority")
            expiresIn = try object.optional("expiresIn")
            apnsExpiration = try object.optional("apnsExpiration")
            staleDate = try object.optional("staleDate")
            dismissalDate = try object.optional("dismissalDate")
            relevanceScore = try object.optional("relevanceScore")
            sendAt = try object.optional("sendAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("event", event)
            if let contentState { object.member("contentState", contentState) }
            if let alert { object.member("alert", alert) }
            if let byVariant { object.member("byVariant", byVariant) }
            if let audiences { object.member("audiences", audiences) }
            if let priority { object.member("priority", priority) }
            if let expiresIn { object.member("expiresIn", expiresIn) }
            if let apnsExpiration { object.member("apnsExpiration", apnsExpiration) }
            if let staleDate { object.member("staleDate", staleDate) }
            if let dismissalDate { object.member("dismissalDate", dismissalDate) }
            if let relevanceScore { object.member("relevanceScore", relevanceScore) }
            if let sendAt { object.member("sendAt", sendAt) }
        }
    }
}

extension Contract {
    /// Broadcasts that are accepted in one commit, each on its own.
    public struct BroadcastBatch: Sendable, Hashable, Codable, ContractObject {
        /// The broadcasts. A fault in one concerns only that one.
        public var items: [BroadcastItem]

        /// What is left out is not said.
        public init(items: [BroadcastItem]) {
            self.items = items
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            items = try object.required("items")
        }

        package func write(members object: inout JSONWriter) {
            object.member("items", items)
        }
    }
}

extension Contract {
    /// What became of each broadcast of a batch.
    public struct BroadcastBatchResult: Sendable, Hashable, Codable, ContractObject {
        /// One for each of the request, in its order.
        public var items: [BroadcastOutcome]

        /// What is left out is not said.
        public init(items: [BroadcastOutcome]) {
            self.items = items
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            items = try object.required("items")
        }

        package func write(members object: inout JSONWriter) {
            object.member("items", items)
        }
    }
}

extension Contract {
    /// A broadcast of a batch that was accepted, or why it was refused.
    public enum BroadcastOutcome: Sendable, Hashable, Codable, ContractValue {
        case accepted(Broadcast)
        case refused(RefusedBroadcast)

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(json: JSONValue) throws {
            if let value = try? Broadcast(json: json) {
                self = .accepted(value)
                return
            }
            self = .refused(try RefusedBroadcast(json: json))
        }

        package func write(to json: inout JSONWriter) {
            switch self {
            case .accepted(let value): value.write(to: &json)
            case .refused(let value): value.write(to: &json)
            }
        }
    }
}

extension Contract {
    /// A broadcast of a batch that was refused.
    public struct RefusedBroadcast: Sendable, Hashable, Codable, ContractObject {
        /// A refusal (RFC 9457). type ends in a ProblemKind, which programs compare; title and detail are for people.
        /// The members after apns belong to some kinds only: x-problems of ProblemKind lists which.
        public var problem: Problem

        /// What is left out is not said.
        public init(problem: Problem) {
            self.problem = problem
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            problem = try object.required("problem")
        }

        package func write(members object: inout JSONWriter) {
            object.member("problem", problem)
        }
    }
}

extension Contract {
    /// An accepted broadcast and its deliveries.
    public struct Broadcast: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it.
        public var id: String
        /// Its event. null: it went to a channel without an event.
        public var eventKey: String?
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// How far a broadcast or a push is, over all of its deliveries.
        public var state: BroadcastState
        /// When it was accepted. From then on it is durable.
        public var acceptedAt: Date
        /// When it is or was sent, if not at once.
        public var sendAt: Date?
        /// Seconds from startsAt of the event to sendAt, if it was asked for so.
        public var afterStart: Int?
        /// Who asked for it, as actor of the audit log. null: it was not recorded.
        public var by: String?
        /// Who withdrew it, as actor of the audit log. Absent: nobody did, or it was not recorded.
        public var withdrawnBy: String?
        /// How many deliveries are in each state. States without any are left out.
        public var counts: [String: Int]
        /// One for each channel, and one for the tokens of each app and environment that has some. Empty until its
        /// sendAt.
        public var deliveries: [Delivery]
        /// What may not be meant: a sendAt that is past or after endsAt, a staleDate that is past when it is sent, a
        /// contentState that is long for a device, audiences that got their end, a channel for which there is no place.
        public var warnings: [String]
        /// The request with the event's defaults, as a body that sends it once more; without sendAt. Only where one
        /// broadcast is read.
        public var message: BroadcastDraft?

        /// What is left out is not said.
        public init(
            id: String, eventKey: String? = nil, event: BroadcastKind, state: BroadcastState, acceptedAt: Date,
            sendAt: Date? = nil, afterStart: Int? = nil, by: String? = nil, withdrawnBy: String? = nil,
            counts: [String: Int], deliveries: [Delivery], warnings: [String], message: BroadcastDraft? = nil
        ) {
            self.id = id
            self.eventKey = eventKey
            self.event = event
            self.state = state
            self.acceptedAt = acceptedAt
            self.sendAt = sendAt
            self.afterStart = afterStart
            self.by = by
            self.withdrawnBy = withdrawnBy
            self.counts = counts
            self.deliveries = deliveries
            self.warnings = warnings
            self.message = message
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            eventKey = try object.optional("eventKey")
            event = try object.required("event")
            state = try object.required("state")
            acceptedAt = try object.required("acceptedAt")
            sendAt = try object.optional("sendAt")
            afterStart = try object.optional("afterStart")
            by = try object.optional("by")
            withdrawnBy = try object.optional("withdrawnBy")
            counts = try object.required("counts")
            deliveries = try object.required("deliveries")
            warnings = try object.required("warnings")
            message = try object.optional("message")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("eventKey", eventKey)
            object.member("event", event)
            object.member("state", state)
            object.member("acceptedAt", acceptedAt)
            if let sendAt { object.member("sendAt", sendAt) }
            if let afterStart { object.member("afterStart", afterStart) }
            object.member("by", by)
            if let withdrawnBy { object.member("withdrawnBy", withdrawnBy) }
            object.member("counts", counts)
            object.member("deliveries", deliveries)
            object.member("warnings", warnings)
            if let message { object.member("message", message) }
        }
    }
}

extension Contract {
    /// A page of broadcasts.
    public typealias BroadcastPage = Page<Broadcast>
}

extension Contract {
    /// What a broadcast would come to if it were accepted now.
    public struct BroadcastPreview: Sendable, Hashable, Codable, ContractObject {
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// When it would be sent: now, or at its sendAt.
        public var goesAt: Date
        /// Whether it would wait for its sendAt.
        public var isScheduled: Bool
        /// When the server would stop trying.
        public var expiresAt: Date
        /// What each audience would get, in the order of the event.
        public var audiences: [AudiencePreview]
        /// As in the answer to a broadcast.
        public var warnings: [String]

        /// What is left out is not said.
        public init(
            event: BroadcastKind, goesAt: Date, isScheduled: Bool, expiresAt: Date, audiences: [AudiencePreview],
            warnings: [String]
        ) {
            self.event = event
            self.goesAt = goesAt
            self.isScheduled = isScheduled
            self.expiresAt = expiresAt
            self.audiences = audiences
            self.warnings = warnings
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            event = try object.required("event")
            goesAt = try object.required("goesAt")
            isScheduled = try object.required("isScheduled")
            expiresAt = try object.required("expiresAt")
            audiences = try object.required("audiences")
            warnings = try object.required("warnings")
        }

        package func write(members object: inout JSONWriter) {
            object.member("event", event)
            object.member("goesAt", goesAt)
            object.member("isScheduled", isScheduled)
            object.member("expiresAt", expiresAt)
            object.member("audiences", audiences)
            object.member("warnings", warnings)
        }
    }
}

extension Contract {
    /// What one audience would get.
    public struct AudiencePreview: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The audience's variant, if it has one.
        public var variant: String?
        /// How a message reaches its devices.
        public var kind: DeliveryKind
        /// The header apns-priority.
        public var priority: Int
        /// The header apns-expiration: seconds since 1970, or 0.
        public var apnsExpiration: Int
        /// The size of the body that APNs would get.
        public var bytes: Int
        /// The bytes that APNs allows there: 5,120 for a channel, 4,096 for tokens.
        public var limit: Int
        /// The body that APNs would get. Its timestamp is that of goesAt.
        public var payload: RawJSON
        /// What a lock screen would show, by the app's templates. null: the app has none, or there is no content.
        public var preview: RenderedPreview?
        /// Broadcasts that wait for their turn and would not be sent.
        public var replaces: [String]

        /// What is left out is not said.
        public init(
            bundleId: String, environment: Environment, variant: String? = nil, kind: DeliveryKind, priority: Int,
            apnsExpiration: Int, bytes: Int, limit: Int, payload: RawJSON, preview: RenderedPreview? = nil,
            replaces: [String]
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.kind = kind
            self.priority = priority
            self.apnsExpiration = apnsExpiration
            self.bytes = bytes
            self.limit = limit
            self.payload = payload
            self.preview = preview
            self.replaces = replaces
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            kind = try object.required("kind")
            priority = try object.required("priority")
            apnsExpiration = try object.required("apnsExpiration")
            bytes = try object.required("bytes")
            limit = try object.required("limit")
            payload = try object.required("payload")
            preview = try object.optional("preview")
            replaces = try object.required("replaces")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            if let variant { object.member("variant", variant) }
            object.member("kind", kind)
            object.member("priority", priority)
            object.member("apnsExpiration", apnsExpiration)
            object.member("bytes", bytes)
            object.member("limit", limit)
            object.member("payload", payload)
            object.member("preview", preview)
            object.member("replaces", replaces)
        }
    }
}

extension Contract {
    /// A content as text, by the app's templates.
    public struct RenderedPreview: Sendable, Hashable, Codable, ContractObject {
        /// One line, if the app has a template for it.
        public var compact: String?
        /// Several lines, if the app has a template for them.
        public var expanded: String?

        /// What is left out is not said.
        public init(compact: String? = nil, expanded: String? = nil) {
            self.compact = compact
            self.expanded = expanded
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
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
}

extension Contract {
    /// The message of a broadcast to one audience.
    public struct Delivery: Sendable, Hashable, Codable, ContractObject {
        /// tokens: to the activities of an app and environment that have an update token and no channel, counted in
        /// counts. rejected with PayloadTooLarge there: it was scheduled before the first of them came, and is too
        /// large for tokens.
        public var kind: DeliveryKind
        /// Only of a delivery to tokens: activities by what became of their push. One that was not reached when a newer
        /// message came gets that instead. The answer to a call with an Idempotency-Key has not counted them yet.
        public var counts: TokenCounts?
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The audience's variant, if it has one. Of tokens: the variant whose content they get.
        public var variant: String?
        /// Apple's ID of the channel. null: there is none yet, or it goes to tokens.
        public var channelId: String?
        /// How far the message to one audience, or a push to one token, is.
        public var state: DeliveryState
        /// Requests made to APNs.
        public var attempts: Int
        /// The header apns-priority.
        public var priority: Int
        /// The header apns-expiration: seconds since 1970, or 0.
        public var apnsExpiration: Int
        /// aps.timestamp, in seconds since 1970. null until it is first sent. Retries keep it.
        public var timestamp: Int?
        /// The header apns-request-id of the newest attempt.
        public var apnsRequestId: String?
        /// apns-unique-id of APNs' answer, with which Apple's console finds the push.
        public var apnsUniqueId: String?
        /// Why it waits or failed, in Apple's word or in a sentence of the server.
        public var reason: String?
        /// When it is tried next.
        public var nextAttemptAt: Date?
        /// When it got its final state. null: it has none yet.
        public var settledAt: Date?
        /// Milliseconds from its acceptance, or from its sendAt, to the answer of APNs that settled it; of tokens, to
        /// the last one. Absent where APNs did not answer.
        public var answerMilliseconds: Int?
        /// Of one that is superseded: the broadcast that was sent instead, if that is known.
        public var supersededBy: String?

        /// What is left out is not said.
        public init(
            kind: DeliveryKind, counts: TokenCounts? = nil, bundleId: String, environment: Environment,
            variant: String? = nil, channelId: String? = nil, state: DeliveryState, attempts: Int, priority: Int,
            apnsExpiration: Int, timestamp: Int? = nil, apnsRequestId: String? = nil, apnsUniqueId: String? = nil,
            reason: String? = nil, nextAttemptAt: Date? = nil, settledAt: Date? = nil, answerMilliseconds: Int? = nil,
            supersededBy: String? = nil
        ) {
            self.kind = kind
            self.counts = counts
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.channelId = channelId
            self.state = state
            self.attempts = attempts
            self.priority = priority
            self.apnsExpiration = apnsExpiration
            self.timestamp = timestamp
            self.apnsRequestId = apnsRequestId
            self.apnsUniqueId = apnsUniqueId
            self.reason = reason
            self.nextAttemptAt = nextAttemptAt
            self.settledAt = settledAt
            self.answerMilliseconds = answerMilliseconds
            self.supersededBy = supersededBy
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            kind = try object.required("kind")
            counts = try object.optional("counts")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            channelId = try object.optional("channelId")
            state = try object.required("state")
            attempts = try object.required("attempts")
            priority = try object.required("priority")
            apnsExpiration = try object.required("apnsExpiration")
            timestamp = try object.optional("timestamp")
            apnsRequestId = try object.optional("apnsRequestId")
            apnsUniqueId = try object.optional("apnsUniqueId")
            reason = try object.optional("reason")
            nextAttemptAt = try object.optional("nextAttemptAt")
            settledAt = try object.optional("settledAt")
            answerMilliseconds = try object.optional("answerMilliseconds")
            supersededBy = try object.optional("supersededBy")
        }

        package func write(members object: inout JSONWriter) {
            object.member("kind", kind)
            if let counts { object.member("counts", counts) }
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            if let variant { object.member("variant", variant) }
            object.member("channelId", channelId)
            object.member("state", state)
            object.member("attempts", attempts)
            object.member("priority", priority)
            object.member("apnsExpiration", apnsExpiration)
            object.member("timestamp", timestamp)
            object.member("apnsRequestId", apnsRequestId)
            object.member("apnsUniqueId", apnsUniqueId)
            object.member("reason", reason)
            object.member("nextAttemptAt", nextAttemptAt)
            object.member("settledAt", settledAt)
            if let answerMilliseconds { object.member("answerMilliseconds", answerMilliseconds) }
            if let supersededBy { object.member("supersededBy", supersededBy) }
        }
    }
}

extension Contract {
    /// Only of a delivery to tokens: activities by what became of their push. One that was not reached when a newer
    /// message came gets that instead. The answer to a call with an Idempotency-Key has not counted them yet.
    public struct TokenCounts: Sendable, Hashable, Codable, ContractObject {
        /// All that it was to reach.
        public var total: Int
        /// APNs answered 200. That does not mean that it was shown.
        public var accepted: Int
        /// APNs refused them for good, also with BadDeviceToken and DeviceTokenNotForTopic.
        public var rejected: Int
        /// Their tokens are no longer valid.
        public var gone: Int
        /// The message's time ran out before they were reached.
        public var expired: Int
        /// Not answered yet, or to be sent.
        public var pending: Int

        /// What is left out is not said.
        public init(total: Int, accepted: Int, rejected: Int, gone: Int, expired: Int, pending: Int) {
            self.total = total
            self.accepted = accepted
            self.rejected = rejected
            self.gone = gone
            self.expired = expired
            self.pending = pending
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            total = try object.required("total")
            accepted = try object.required("accepted")
            rejected = try object.required("rejected")
            gone = try object.required("gone")
            expired = try object.required("expired")
            pending = try object.required("pending")
        }

        package func write(members object: inout JSONWriter) {
            object.member("total", total)
            object.member("accepted", accepted)
            object.member("rejected", rejected)
            object.member("gone", gone)
            object.member("expired", expired)
            object.member("pending", pending)
        }
    }
}

extension Contract {
    /// A message to the token of one activity, for teams that keep their tokens themselves. Members other than token
    /// are those of a broadcast; a start has more.
    public struct PushDraft: Sendable, Hashable, Codable, ContractObject {
        /// An update token, or for start a push-to-start token, in hexadecimal digits.
        public var token: String
        /// What a push does to the Live Activity of its token.
        public var event: MessageKind
        /// What the activity shows. It reaches the app byte for byte. Required for start and update.
        public var contentState: RawJSON?
        /// Makes the device ring. It reaches the app byte for byte. Required for start.
        public var alert: Alert?
        /// How urgently APNs passes it on. Left out, 10 for an end, a start or an alert, and 5 for other updates.
        public var priority: Int?
        /// Seconds for which it is worth sending. Left out, eight hours. Not together with apnsExpiration.
        public var expiresIn: Int?
        /// The header apns-expiration itself, in seconds since 1970, or 0 for one attempt that is not stored. Not
        /// together with expiresIn.
        public var apnsExpiration: Int?
        /// From when on the system marks the content as out of date. Fractions of seconds are cut off.
        public var staleDate: Date?
        /// Only with end: when the system removes the ended activity, at most four hours after it is sent. A past time
        /// removes it at once.
        public var dismissalDate: Date?
        /// Which of an app's activities is shown first. The highest wins.
        public var relevanceScore: Double?
        /// When it is sent. Left out, or past: at once.
        public var sendAt: Date?
        /// The name of the app's Swift type of attributes. Only with start, and required for it.
        public var attributesType: String?
        /// The static attributes of the activity, byte for byte. Only with start, and required for it.
        public var attributes: RawJSON?
        /// Only with start: Apple's ID of the channel that the activity listens to. Systems before 18 start nothing
        /// with it.
        public var inputPushChannel: String?
        /// Only with start: true, or Apple's 1, gives the activity an update token. Not together with inputPushChannel.
        /// Systems before 18 start nothing with it.
        public var inputPushToken: Bool?

        /// What is left out is not said.
        public init(
            token: String, event: MessageKind, contentState: RawJSON? = nil, alert: Alert? = nil, priority: Int? = nil,
            expiresIn: Int? = nil, apnsExpiration: Int? = nil, staleDate: Date? = nil, dismissalDate: Date? = nil,
            relevanceScore: Double? = nil, sendAt: Date? = nil, attributesType: String? = nil,
            attributes: RawJSON? = nil, inputPushChannel: String? = nil, inputPushToken: Bool? = nil
        ) {
            self.token = token
            self.event = event
            self.contentState = contentState
            self.alert = alert
            self.priority = priority
            self.expiresIn = expiresIn
            self.apnsExpiration = apnsExpiration
            self.staleDate = staleDate
            self.dismissalDate = dismissalDate
            self.relevanceScore = relevanceScore
            self.sendAt = sendAt
            self.attributesType = attributesType
            self.attributes = attributes
            self.inputPushChannel = inputPushChannel
            self.inputPushToken = inputPushToken
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            token = try object.required("token")
            event = try object.required("event")
            contentState = try object.optional("contentState")
            alert = try object.optional("alert")
            priority = try object.optional("priority")
            expiresIn = try object.optional("expiresIn")
            apnsExpiration = try object.optional("apnsExpiration")
            staleDate = try object.optional("staleDate")
            dismissalDate = try object.optional("dismissalDate")
            relevanceScore = try object.optional("relevanceScore")
            sendAt = try object.optional("sendAt")
            attributesType = try object.optional("attributesType")
            attributes = try object.optional("attributes")
            inputPushChannel = try object.optional("inputPushChannel")
            inputPushToken = try object.optional("inputPushToken")
        }

        package func write(members object: inout JSONWriter) {
            object.member("token", token)
            object.member("event", event)
            if let contentState { object.member("contentState", contentState) }
            if let alert { object.member("alert", alert) }
            if let priority { object.member("priority", priority) }
            if let expiresIn { object.member("expiresIn", expiresIn) }
            if let apnsExpiration { object.member("apnsExpiration", apnsExpiration) }
            if let staleDate { object.member("staleDate", staleDate) }
            if let dismissalDate { object.member("dismissalDate", dismissalDate) }
            if let relevanceScore { object.member("relevanceScore", relevanceScore) }
            if let sendAt { object.member("sendAt", sendAt) }
            if let attributesType { object.member("attributesType", attributesType) }
            if let attributes { object.member("attributes", attributes) }
            if let inputPushChannel { object.member("inputPushChannel", inputPushChannel) }
            if let inputPushToken { object.member("inputPushToken", inputPushToken) }
        }
    }
}

extension Contract {
    /// A push to one token, and how far it is.
    public struct Push: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it.
        public var id: String
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The last six digits of its token.
        public var token: String
        /// What a push does to the Live Activity of its token.
        public var event: MessageKind
        /// How far a broadcast or a push is, over all of its deliveries.
        public var state: BroadcastState
        /// When it was accepted. From then on it is durable.
        public var acceptedAt: Date
        /// When it is or was sent, if not at once.
        public var sendAt: Date?
        /// Who asked for it, as actor of the audit log. null: it was not recorded.
        public var by: String?
        /// Who withdrew it, as actor of the audit log. Absent: nobody did, or it was not recorded.
        public var withdrawnBy: String?
        /// How far its message is. null until its sendAt.
        public var delivery: PushDelivery?
        /// What may not be meant, as of a broadcast.
        public var warnings: [String]

        /// What is left out is not said.
        public init(
            id: String, bundleId: String, environment: Environment, token: String, event: MessageKind,
            state: BroadcastState, acceptedAt: Date, sendAt: Date? = nil, by: String? = nil, withdrawnBy: String? = nil,
            delivery: PushDelivery? = nil, warnings: [String]
        ) {
            self.id = id
            self.bundleId = bundleId
            self.environment = environment
            self.token = token
            self.event = event
            self.state = state
            self.acceptedAt = acceptedAt
            self.sendAt = sendAt
            self.by = by
            self.withdrawnBy = withdrawnBy
            self.delivery = delivery
            self.warnings = warnings
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            token = try object.required("token")
            event = try object.required("event")
            state = try object.required("state")
            acceptedAt = try object.required("acceptedAt")
            sendAt = try object.optional("sendAt")
            by = try object.optional("by")
            withdrawnBy = try object.optional("withdrawnBy")
            delivery = try object.optional("delivery")
            warnings = try object.required("warnings")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("token", token)
            object.member("event", event)
            object.member("state", state)
            object.member("acceptedAt", acceptedAt)
            if let sendAt { object.member("sendAt", sendAt) }
            object.member("by", by)
            if let withdrawnBy { object.member("withdrawnBy", withdrawnBy) }
            object.member("delivery", delivery)
            object.member("warnings", warnings)
        }
    }
}

extension Contract {
    /// How far the message of a push is.
    public struct PushDelivery: Sendable, Hashable, Codable, ContractObject {
        /// How far the message to one audience, or a push to one token, is.
        public var state: DeliveryState
        /// Requests made to APNs.
        public var attempts: Int
        /// The header apns-priority.
        public var priority: Int
        /// The header apns-expiration: seconds since 1970, or 0.
        public var apnsExpiration: Int
        /// aps.timestamp, in seconds since 1970. null until it is first sent. Retries keep it.
        public var timestamp: Int?
        /// The header apns-id of the newest attempt.
        public var apnsRequestId: String?
        /// apns-unique-id of APNs' answer, with which Apple's console finds the push.
        public var apnsUniqueId: String?
        /// Why it waits or failed, in Apple's word or in a sentence of the server.
        public var reason: String?
        /// When it is tried next.
        public var nextAttemptAt: Date?
        /// When it got its final state. null: it has none yet.
        public var settledAt: Date?

        /// What is left out is not said.
        public init(
            state: DeliveryState, attempts: Int, priority: Int, apnsExpiration: Int, timestamp: Int? = nil,
            apnsRequestId: String? = nil, apnsUniqueId: String? = nil, reason: String? = nil,
            nextAttemptAt: Date? = nil, settledAt: Date? = nil
        ) {
            self.state = state
            self.attempts = attempts
            self.priority = priority
            self.apnsExpiration = apnsExpiration
            self.timestamp = timestamp
            self.apnsRequestId = apnsRequestId
            self.apnsUniqueId = apnsUniqueId
            self.reason = reason
            self.nextAttemptAt = nextAttemptAt
            self.settledAt = settledAt
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            state = try object.required("state")
            attempts = try object.required("attempts")
            priority = try object.required("priority")
            apnsExpiration = try object.required("apnsExpiration")
            timestamp = try object.optional("timestamp")
            apnsRequestId = try object.optional("apnsRequestId")
            apnsUniqueId = try object.optional("apnsUniqueId")
            reason = try object.optional("reason")
            nextAttemptAt = try object.optional("nextAttemptAt")
            settledAt = try object.optional("settledAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("state", state)
            object.member("attempts", attempts)
            object.member("priority", priority)
            object.member("apnsExpiration", apnsExpiration)
            object.member("timestamp", timestamp)
            object.member("apnsRequestId", apnsRequestId)
            object.member("apnsUniqueId", apnsUniqueId)
            object.member("reason", reason)
            object.member("nextAttemptAt", nextAttemptAt)
            object.member("settledAt", settledAt)
        }
    }
}

extension Contract {
    /// How many of an app's places for channels are taken in one environment, and how many there will be.
    public struct Quota: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The app's channelLimit.
        public var limit: Int
        /// Channels at Apple, as far as the server knows.
        public var used: Int
        /// Places held for channels that are being created.
        public var reserved: Int
        /// Places that are free now. Channels that are only kept for a while give theirs up when one is needed, so a
        /// creation may succeed at 0.
        public var available: Int
        /// Channels by state. Deleted ones are not counted.
        public var byState: [String: Int]
        /// Channels that take a place, by storage policy.
        public var byStoragePolicy: [String: Int]
        /// What Apple's list said at the last reconciliation. null: there was none.
        public var apple: AppleCount?
        /// Channels in Apple's list that the ledger does not have.
        public var unmanaged: Int
        /// Channels that Apple no longer has though an event needs them.
        public var missing: Int
        /// How many channels there will be: those that are held and until when, and those that events will need, if
        /// each ends at its endsAt and no other message comes. Never less than used and reserved together.
        public var forecast: Forecast
        /// How much of an app's places are taken.
        public var level: QuotaLevel
        /// The gravest alarm that stands. null: none does.
        public var alarm: QuotaAlarm?
        /// The alarm key-refused, while it stands.
        public var keyRefused: KeyRefused?
        /// Set while APNs throttles the app's broadcasts.
        public var throttled: Throttled?
        /// Set while APNs throttles the app's pushes to devices. Answers about single tokens do not count.
        public var devicesThrottled: Throttled?

        /// What is left out is not said.
        public init(
            bundleId: String, environment: Environment, limit: Int, used: Int, reserved: Int, available: Int,
            byState: [String: Int], byStoragePolicy: [String: Int], apple: AppleCount? = nil, unmanaged: Int,
            missing: Int, forecast: Forecast, level: QuotaLevel, alarm: QuotaAlarm? = nil,
            keyRefused: KeyRefused? = nil, throttled: Throttled? = nil, devicesThrottled: Throttled? = nil
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.limit = limit
            self.used = used
            self.reserved = reserved
            self.available = available
            self.byState = byState
            self.byStoragePolicy = byStoragePolicy
            self.apple = apple
            self.unmanaged = unmanaged
            self.missing = missing
            self.forecast = forecast
            self.level = level
            self.alarm = alarm
            self.keyRefused = keyRefused
            self.throttled = throttled
            self.devicesThrottled = devicesThrottled
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            limit = try object.required("limit")
            used = try object.required("used")
            reserved = try object.required("reserved")
            available = try object.required("available")
            byState = try object.required("byState")
            byStoragePolicy = try object.required("byStoragePolicy")
            apple = try object.optional("apple")
            unmanaged = try object.required("unmanaged")
            missing = try object.required("missing")
            forecast = try object.required("forecast")
            level = try object.required("level")
            alarm = try object.optional("alarm")
            keyRefused = try object.optional("keyRefused")
            throttled = try object.optional("throttled")
            devicesThrottled = try object.optional("devicesThrottled")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("limit", limit)
            object.member("used", used)
            object.member("reserved", reserved)
            object.member("available", available)
            object.member("byState", byState)
            object.member("byStoragePolicy", byStoragePolicy)
            object.member("apple", apple)
            object.member("unmanaged", unmanaged)
            object.member("missing", missing)
            object.member("forecast", forecast)
            object.member("level", level)
            object.member("alarm", alarm)
            object.member("keyRefused", keyRefused)
            object.member("throttled", throttled)
            object.member("devicesThrottled", devicesThrottled)
        }
    }
}

extension Contract {
    /// APNs refuses the provider tokens of the key that signs for the app, so nothing is sent. See CredentialRefusal.
    public struct KeyRefused: Sendable, Hashable, Codable, ContractObject {
        /// The ID of the team at Apple that the signing key belongs to.
        public var teamId: String
        /// The ID of the key at Apple that signs. The server reads the file AuthKey_{keyId}.p8.
        public var keyId: String
        /// Apple's word in the newest refusal.
        public var reason: String
        /// The time of the first refusal in a row.
        public var since: Date

        /// What is left out is not said.
        public init(teamId: String, keyId: String, reason: String, since: Date) {
            self.teamId = teamId
            self.keyId = keyId
            self.reason = reason
            self.since = since
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            teamId = try object.required("teamId")
            keyId = try object.required("keyId")
            reason = try object.required("reason")
            since = try object.required("since")
        }

        package func write(members object: inout JSONWriter) {
            object.member("teamId", teamId)
            object.member("keyId", keyId)
            object.member("reason", reason)
            object.member("since", since)
        }
    }
}

extension Contract {
    /// APNs answered 429 to several lanes of the app, so its messages are sent at a rate that the server learns from
    /// the answers. It ends 300 seconds after the last 429.
    public struct Throttled: Sendable, Hashable, Codable, ContractObject {
        /// The time of the first 429.
        public var since: Date
        /// Messages a second, of all replicas together.
        public var ratePerSecond: Double
        /// Lanes whose newest message waits for its turn.
        public var lanesWaiting: Int
        /// Seconds for which the first of these lanes has waited. 0 if none waits.
        public var oldestSeconds: Double

        /// What is left out is not said.
        public init(since: Date, ratePerSecond: Double, lanesWaiting: Int, oldestSeconds: Double) {
            self.since = since
            self.ratePerSecond = ratePerSecond
            self.lanesWaiting = lanesWaiting
            self.oldestSeconds = oldestSeconds
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            since = try object.required("since")
            ratePerSecond = try object.required("ratePerSecond")
            lanesWaiting = try object.required("lanesWaiting")
            oldestSeconds = try object.required("oldestSeconds")
        }

        package func write(members object: inout JSONWriter) {
            object.member("since", since)
            object.member("ratePerSecond", ratePerSecond)
            object.member("lanesWaiting", lanesWaiting)
            object.member("oldestSeconds", oldestSeconds)
        }
    }
}

extension Contract {
    /// How many channels Apple listed, and when.
    public struct AppleCount: Sendable, Hashable, Codable, ContractObject {
        /// How many.
        public var count: Int
        /// When.
        public var at: Date

        /// What is left out is not said.
        public init(count: Int, at: Date) {
            self.count = count
            self.at = at
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            count = try object.required("count")
            at = try object.required("at")
        }

        package func write(members object: inout JSONWriter) {
            object.member("count", count)
            object.member("at", at)
        }
    }
}

extension Contract {
    /// How many channels there will be: those that are held and until when, and those that events will need, if each
    /// ends at its endsAt and no other message comes. Never less than used and reserved together.
    public struct Forecast: Sendable, Hashable, Codable, ContractObject {
        /// The most channels at once, from now on.
        public var peak: Int
        /// When that is first so.
        public var peakAt: Date
        /// When the limit is exceeded first. null: never.
        public var exceedsAt: Date?

        /// What is left out is not said.
        public init(peak: Int, peakAt: Date, exceedsAt: Date? = nil) {
            self.peak = peak
            self.peakAt = peakAt
            self.exceedsAt = exceedsAt
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            peak = try object.required("peak")
            peakAt = try object.required("peakAt")
            exceedsAt = try object.optional("exceedsAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("peak", peak)
            object.member("peakAt", peakAt)
            object.member("exceedsAt", exceedsAt)
        }
    }
}

extension Contract {
    /// A page of quotas.
    public typealias QuotaPage = Page<Quota>
}

extension Contract {
    /// How much of each app's limit was taken, step by step.
    public struct QuotaHistory: Sendable, Hashable, Codable, ContractObject {
        /// The beginning of the time that was asked for.
        public var from: Date
        /// The end of the time that was asked for.
        public var to: Date
        /// The length of a step in seconds.
        public var step: Int
        /// By bundle ID, environment and time. Steps without a sample are left out.
        public var items: [QuotaSample]

        /// What is left out is not said.
        public init(from: Date, to: Date, step: Int, items: [QuotaSample]) {
            self.from = from
            self.to = to
            self.step = step
            self.items = items
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            from = try object.required("from")
            to = try object.required("to")
            step = try object.required("step")
            items = try object.required("items")
        }

        package func write(members object: inout JSONWriter) {
            object.member("from", from)
            object.member("to", to)
            object.member("step", step)
            object.member("items", items)
        }
    }
}

extension Contract {
    /// One step of one app in one environment.
    public struct QuotaSample: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The end of the step.
        public var at: Date
        /// Channels at Apple in the step's last sample.
        public var used: Int
        /// Places held for creations in the step's last sample.
        public var reserved: Int
        /// The most places taken at once in the step's samples, used and reserved together.
        public var peak: Int
        /// The app's channelLimit in the step's last sample.
        public var limit: Int
        /// Channels created in the step.
        public var created: Int
        /// Channels deleted in the step.
        public var deleted: Int

        /// What is left out is not said.
        public init(
            bundleId: String, environment: Environment, at: Date, used: Int, reserved: Int, peak: Int, limit: Int,
            created: Int, deleted: Int
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.at = at
            self.used = used
            self.reserved = reserved
            self.peak = peak
            self.limit = limit
            self.created = created
            self.deleted = deleted
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            at = try object.required("at")
            used = try object.required("used")
            reserved = try object.required("reserved")
            peak = try object.required("peak")
            limit = try object.required("limit")
            created = try object.required("created")
            deleted = try object.required("deleted")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("at", at)
            object.member("used", used)
            object.member("reserved", reserved)
            object.member("peak", peak)
            object.member("limit", limit)
            object.member("created", created)
            object.member("deleted", deleted)
        }
    }
}

extension Contract {
    /// What a reconciliation may do.
    public struct ReconciliationDraft: Sendable, Hashable, Codable, ContractObject {
        /// true: carry the actions out. Else they are only reported.
        public var apply: Bool?
        /// true: take over unmanaged channels.
        public var adopt: Bool?
        /// true: delete unmanaged channels at Apple that were seen for ten minutes or more
        /// (GRANDSTAND_RECONCILE_GRACE), so many at most in a run (GRANDSTAND_RECONCILE_DELETE_BUDGET).
        public var deleteUnmanaged: Bool?
        /// true: when all known channels vanished, believe it, so that live events get new ones. With apply, creations
        /// that wait for their next attempt are made now.
        public var recreate: Bool?

        /// What is left out is not said.
        public init(apply: Bool? = nil, adopt: Bool? = nil, deleteUnmanaged: Bool? = nil, recreate: Bool? = nil) {
            self.apply = apply
            self.adopt = adopt
            self.deleteUnmanaged = deleteUnmanaged
            self.recreate = recreate
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            apply = try object.optional("apply")
            adopt = try object.optional("adopt")
            deleteUnmanaged = try object.optional("deleteUnmanaged")
            recreate = try object.optional("recreate")
        }

        package func write(members object: inout JSONWriter) {
            if let apply { object.member("apply", apply) }
            if let adopt { object.member("adopt", adopt) }
            if let deleteUnmanaged { object.member("deleteUnmanaged", deleteUnmanaged) }
            if let recreate { object.member("recreate", recreate) }
        }
    }
}

extension Contract {
    /// A comparison of Apple's list with the ledger. In lists a long report is abridged: missing, unmanaged and actions
    /// are left out then, and abridged is true. GET of the report has them.
    public struct Reconciliation: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the report.
        public var id: String
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// Who did it: key: and the name of an API key, command-line for an operator at the server, grandstand for the
        /// server itself.
        public var actor: String
        /// When it began.
        public var startedAt: Date
        /// When it was done.
        public var finishedAt: Date
        /// Whether the actions were carried out.
        public var applied: Bool
        /// Channels in Apple's list.
        public var apple: Int
        /// Channels of the ledger that should be in it.
        public var ledger: Int
        /// Channels in both.
        public var matched: Int
        /// Channels of the ledger that Apple's list lacks.
        public var missing: [MissingChannel]?
        /// Channels in Apple's list that the ledger lacks.
        public var unmanaged: [UnmanagedChannel]?
        /// What follows from that.
        public var actions: [ReconciliationAction]?
        /// Why a person has to decide. null: nothing needs that.
        public var alarm: ReconciliationAlarm?
        /// Sentences for operators.
        public var notes: [String]
        /// Only in lists, and only where the three lists are left out.
        public var abridged: Bool?

        /// What is left out is not said.
        public init(
            id: String, bundleId: String, environment: Environment, actor: String, startedAt: Date, finishedAt: Date,
            applied: Bool, apple: Int, ledger: Int, matched: Int, missing: [MissingChannel]? = nil,
            unmanaged: [UnmanagedChannel]? = nil, actions: [ReconciliationAction]? = nil,
            alarm: ReconciliationAlarm? = nil, notes: [String], abridged: Bool? = nil
        ) {
            self.id = id
            self.bundleId = bundleId
            self.environment = environment
            self.actor = actor
            self.startedAt = startedAt
            self.finishedAt = finishedAt
            self.applied = applied
            self.apple = apple
            self.ledger = ledger
            self.matched = matched
            self.missing = missing
            self.unmanaged = unmanaged
            self.actions = actions
            self.alarm = alarm
            self.notes = notes
            self.abridged = abridged
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            actor = try object.required("actor")
            startedAt = try object.required("startedAt")
            finishedAt = try object.required("finishedAt")
            applied = try object.required("applied")
            apple = try object.required("apple")
            ledger = try object.required("ledger")
            matched = try object.required("matched")
            missing = try object.optional("missing")
            unmanaged = try object.optional("unmanaged")
            actions = try object.optional("actions")
            alarm = try object.optional("alarm")
            notes = try object.required("notes")
            abridged = try object.optional("abridged")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("actor", actor)
            object.member("startedAt", startedAt)
            object.member("finishedAt", finishedAt)
            object.member("applied", applied)
            object.member("apple", apple)
            object.member("ledger", ledger)
            object.member("matched", matched)
            if let missing { object.member("missing", missing) }
            if let unmanaged { object.member("unmanaged", unmanaged) }
            if let actions { object.member("actions", actions) }
            object.member("alarm", alarm)
            object.member("notes", notes)
            if let abridged { object.member("abridged", abridged) }
        }
    }
}

extension Contract {
    /// A channel of the ledger that Apple's list lacks.
    public struct MissingChannel: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it.
        public var id: String
        /// Apple's ID of it.
        public var channelId: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// The event that it serves.
        public var eventKey: String?
        /// The variant of the audience that it serves, if that has one.
        public var variant: String?

        /// What is left out is not said.
        public init(
            id: String, channelId: String? = nil, storagePolicy: StoragePolicy, eventKey: String? = nil,
            variant: String? = nil
        ) {
            self.id = id
            self.channelId = channelId
            self.storagePolicy = storagePolicy
            self.eventKey = eventKey
            self.variant = variant
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            channelId = try object.optional("channelId")
            storagePolicy = try object.required("storagePolicy")
            eventKey = try object.optional("eventKey")
            variant = try object.optional("variant")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("channelId", channelId)
            object.member("storagePolicy", storagePolicy)
            object.member("eventKey", eventKey)
            if let variant { object.member("variant", variant) }
        }
    }
}

extension Contract {
    /// A channel in Apple's list that the ledger lacks.
    public struct UnmanagedChannel: Sendable, Hashable, Codable, ContractObject {
        /// Apple's ID of a channel, as it came. Apps pass it to ActivityKit, pushType .channel(…).
        public var channelId: String
        /// When a reconciliation first saw it.
        public var firstSeenAt: Date
        /// Its policy, if Apple was asked for it.
        public var storagePolicy: StoragePolicy?

        /// What is left out is not said.
        public init(channelId: String, firstSeenAt: Date, storagePolicy: StoragePolicy? = nil) {
            self.channelId = channelId
            self.firstSeenAt = firstSeenAt
            self.storagePolicy = storagePolicy
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            channelId = try object.required("channelId")
            firstSeenAt = try object.required("firstSeenAt")
            storagePolicy = try object.optional("storagePolicy")
        }

        package func write(members object: inout JSONWriter) {
            object.member("channelId", channelId)
            object.member("firstSeenAt", firstSeenAt)
            if let storagePolicy { object.member("storagePolicy", storagePolicy) }
        }
    }
}

extension Contract {
    /// One step of a reconciliation, and whether it was done.
    public struct ReconciliationAction: Sendable, Hashable, Codable, ContractObject {
        /// One step that brings Apple's list and the ledger together.
        public var action: ReconciliationActionName
        /// The server's ID of the channel, where the ledger has it.
        public var id: String?
        /// The event that it serves, where the ledger has it.
        public var eventKey: String?
        /// The variant of the audience that it serves, if that has one.
        public var variant: String?
        /// Apple's ID of the channel.
        public var channelId: String?
        /// Whether it was carried out.
        public var done: Bool
        /// Why it was not, or what Apple said.
        public var detail: String?

        /// What is left out is not said.
        public init(
            action: ReconciliationActionName, id: String? = nil, eventKey: String? = nil, variant: String? = nil,
            channelId: String? = nil, done: Bool, detail: String? = nil
        ) {
            self.action = action
            self.id = id
            self.eventKey = eventKey
            self.variant = variant
            self.channelId = channelId
            self.done = done
            self.detail = detail
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            action = try object.required("action")
            id = try object.optional("id")
            eventKey = try object.optional("eventKey")
            variant = try object.optional("variant")
            channelId = try object.optional("channelId")
            done = try object.required("done")
            detail = try object.optional("detail")
        }

        package func write(members object: inout JSONWriter) {
            object.member("action", action)
            if let id { object.member("id", id) }
            if let eventKey { object.member("eventKey", eventKey) }
            if let variant { object.member("variant", variant) }
            object.member("channelId", channelId)
            object.member("done", done)
            if let detail { object.member("detail", detail) }
        }
    }
}

extension Contract {
    /// A page of reports.
    public typealias ReconciliationPage = Page<Reconciliation>
}

extension Contract {
    /// One change, who made it, and what Apple answered.
    public struct AuditEntry: Sendable, Hashable, Codable, ContractObject {
        /// Decimal digits that rise with every entry.
        public var id: String
        /// When.
        public var at: Date
        /// Who did it: key: and the name of an API key, command-line for an operator at the server, grandstand for the
        /// server itself.
        public var actor: String
        /// The ID of the API key that asked for it.
        public var keyId: String?
        /// What was done.
        public var action: AuditAction
        /// The app.
        public var bundleId: String?
        /// APNs' environment.
        public var environment: Environment?
        /// The server's ID of the channel.
        public var channel: String?
        /// Apple's ID of the channel.
        public var channelId: String?
        /// The event.
        public var eventKey: String?
        /// The broadcast or push.
        public var broadcast: String?
        /// Why, in words.
        public var reason: String?
        /// The ID of the key that signed the call to Apple.
        public var signingKey: String?
        /// What Apple answered. null: it was not asked, or did not answer.
        public var apns: AuditAnswer?

        /// What is left out is not said.
        public init(
            id: String, at: Date, actor: String, keyId: String? = nil, action: AuditAction, bundleId: String? = nil,
            environment: Environment? = nil, channel: String? = nil, channelId: String? = nil, eventKey: String? = nil,
            broadcast: String? = nil, reason: String? = nil, signingKey: String? = nil, apns: AuditAnswer? = nil
        ) {
            self.id = id
            self.at = at
            self.actor = actor
            self.keyId = keyId
            self.action = action
            self.bundleId = bundleId
            self.environment = environment
            self.channel = channel
            self.channelId = channelId
            self.eventKey = eventKey
            self.broadcast = broadcast
            self.reason = reason
            self.signingKey = signingKey
            self.apns = apns
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            at = try object.required("at")
            actor = try object.required("actor")
            keyId = try object.optional("keyId")
            action = try object.required("action")
            bundleId = try object.optional("bundleId")
            environment = try object.optional("environment")
            channel = try object.optional("channel")
            channelId = try object.optional("channelId")
            eventKey = try object.optional("eventKey")
            broadcast = try object.optional("broadcast")
            reason = try object.optional("reason")
            signingKey = try object.optional("signingKey")
            apns = try object.optional("apns")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("at", at)
            object.member("actor", actor)
            object.member("keyId", keyId)
            object.member("action", action)
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("channel", channel)
            object.member("channelId", channelId)
            object.member("eventKey", eventKey)
            object.member("broadcast", broadcast)
            object.member("reason", reason)
            object.member("signingKey", signingKey)
            object.member("apns", apns)
        }
    }
}

extension Contract {
    /// What is kept of Apple's answer to a call.
    public struct AuditAnswer: Sendable, Hashable, Codable, ContractObject {
        /// The HTTP status.
        public var status: Int
        /// Apple's word for a refusal.
        public var reason: String?
        /// APNs' ID of the request.
        public var requestId: String?

        /// What is left out is not said.
        public init(status: Int, reason: String? = nil, requestId: String? = nil) {
            self.status = status
            self.reason = reason
            self.requestId = requestId
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            status = try object.required("status")
            reason = try object.optional("reason")
            requestId = try object.optional("requestId")
        }

        package func write(members object: inout JSONWriter) {
            object.member("status", status)
            object.member("reason", reason)
            object.member("requestId", requestId)
        }
    }
}

extension Contract {
    /// A page of the audit log.
    public typealias AuditPage = Page<AuditEntry>
}

extension Contract {
    /// A key to be made.
    public struct KeyDraft: Sendable, Hashable, Codable, ContractObject {
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// What it may do.
        public var scopes: [Scope]
        /// The one app that it is bound to. Required with the scope device.
        public var bundleId: String?
        /// The apps that it is bound to, each once. Not together with bundleId. Without either it reaches all apps.
        public var bundleIds: [String]?
        /// A time to come from which on it opens nothing. Left out: it does not expire.
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

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            name = try object.required("name")
            scopes = try object.required("scopes")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            expiresAt = try object.optional("expiresAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("name", name)
            object.member("scopes", scopes)
            if let bundleId { object.member("bundleId", bundleId) }
            if let bundleIds { object.member("bundleIds", bundleIds) }
            if let expiresAt { object.member("expiresAt", expiresAt) }
        }
    }
}

extension Contract {
    /// How long the old key goes on.
    public struct RotationDraft: Sendable, Hashable, Codable, ContractObject {
        /// Seconds for which the old key can still be used, at most 30 days.
        public var overlapSeconds: Int?

        /// What is left out is not said.
        public init(overlapSeconds: Int? = nil) {
            self.overlapSeconds = overlapSeconds
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            overlapSeconds = try object.optional("overlapSeconds")
        }

        package func write(members object: inout JSONWriter) {
            if let overlapSeconds { object.member("overlapSeconds", overlapSeconds) }
        }
    }
}

extension Contract {
    /// A key, without its secret.
    public struct Key: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it.
        public var id: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// What it may do.
        public var scopes: [Scope]
        /// The app that it is bound to, if it is a single one.
        public var bundleId: String?
        /// The apps that it is bound to. null: it reaches all.
        public var bundleIds: [String]?
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

        /// What is left out is not said.
        public init(
            id: String, name: String, scopes: [Scope], bundleId: String? = nil, bundleIds: [String]? = nil,
            prefix: String, state: KeyState, createdAt: Date, expiresAt: Date? = nil, revokedAt: Date? = nil,
            replacedBy: String? = nil, lastUsedAt: Date? = nil
        ) {
            self.id = id
            self.name = name
            self.scopes = scopes
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.prefix = prefix
            self.state = state
            self.createdAt = createdAt
            self.expiresAt = expiresAt
            self.revokedAt = revokedAt
            self.replacedBy = replacedBy
            self.lastUsedAt = lastUsedAt
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            name = try object.required("name")
            scopes = try object.required("scopes")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
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
            object.member("prefix", prefix)
            object.member("state", state)
            object.member("createdAt", createdAt)
            object.member("expiresAt", expiresAt)
            object.member("revokedAt", revokedAt)
            object.member("replacedBy", replacedBy)
            object.member("lastUsedAt", lastUsedAt)
        }
    }
}

extension Contract {
    /// A key that was just made, with its secret.
    public struct IssuedKey: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it.
        public var id: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// What it may do.
        public var scopes: [Scope]
        /// The app that it is bound to, if it is a single one.
        public var bundleId: String?
        /// The apps that it is bound to. null: it reaches all.
        public var bundleIds: [String]?
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
        /// What the caller sends as Authorization: Bearer. Only this answer has it.
        public var secret: String {
            get { hidden.rawValue }
            set { hidden = Secret(newValue) }
        }
        private var hidden: Secret

        /// What is left out is not said.
        public init(
            id: String, name: String, scopes: [Scope], bundleId: String? = nil, bundleIds: [String]? = nil,
            prefix: String, state: KeyState, createdAt: Date, expiresAt: Date? = nil, revokedAt: Date? = nil,
            replacedBy: String? = nil, lastUsedAt: Date? = nil, secret: String
        ) {
            self.id = id
            self.name = name
            self.scopes = scopes
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.prefix = prefix
            self.state = state
            self.createdAt = createdAt
            self.expiresAt = expiresAt
            self.revokedAt = revokedAt
            self.replacedBy = replacedBy
            self.lastUsedAt = lastUsedAt
            hidden = Secret(secret)
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            name = try object.required("name")
            scopes = try object.required("scopes")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            prefix = try object.required("prefix")
            state = try object.required("state")
            createdAt = try object.required("createdAt")
            expiresAt = try object.optional("expiresAt")
            revokedAt = try object.optional("revokedAt")
            replacedBy = try object.optional("replacedBy")
            lastUsedAt = try object.optional("lastUsedAt")
            hidden = Secret(try object.required("secret"))
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("name", name)
            object.member("scopes", scopes)
            object.member("bundleId", bundleId)
            object.member("bundleIds", bundleIds)
            object.member("prefix", prefix)
            object.member("state", state)
            object.member("createdAt", createdAt)
            object.member("expiresAt", expiresAt)
            object.member("revokedAt", revokedAt)
            object.member("replacedBy", replacedBy)
            object.member("lastUsedAt", lastUsedAt)
            object.member("secret", secret)
        }
    }
}

extension Contract {
    /// A page of keys.
    public typealias KeyPage = Page<Key>
}

extension Contract {
    /// The whole state of an installation. What is left out is cleared.
    public struct InstallationDraft: Sendable, Hashable, Codable, ContractObject {
        /// Rises with every change, so that of two requests that overtake each other the newer one holds. Left out, the
        /// last to arrive holds.
        public var sequence: Int?
        /// The version of iOS or iPadOS. Two numbers count; further ones are ignored.
        public var systemVersion: String
        /// The app's version.
        public var appVersion: String?
        /// The user's locale as a BCP 47 tag. It chooses the alert of a start.
        public var locale: String?
        /// The name of the user's time zone.
        public var timeZone: String?
        /// Whether the user allows Live Activities.
        public var liveActivitiesEnabled: Bool?
        /// Whether the user allows frequent pushes. Who does not gets fewer updates by token.
        public var frequentPushesEnabled: Bool?
        /// Push-to-start tokens, one for each type of attributes.
        public var startTokens: [StartTokenDraft]?
        /// What the user follows. Twice the same counts once.
        public var topics: [String]?

        /// What is left out is not said.
        public init(
            sequence: Int? = nil, systemVersion: String, appVersion: String? = nil, locale: String? = nil,
            timeZone: String? = nil, liveActivitiesEnabled: Bool? = nil, frequentPushesEnabled: Bool? = nil,
            startTokens: [StartTokenDraft]? = nil, topics: [String]? = nil
        ) {
            self.sequence = sequence
            self.systemVersion = systemVersion
            self.appVersion = appVersion
            self.locale = locale
            self.timeZone = timeZone
            self.liveActivitiesEnabled = liveActivitiesEnabled
            self.frequentPushesEnabled = frequentPushesEnabled
            self.startTokens = startTokens
            self.topics = topics
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            sequence = try object.optional("sequence")
            systemVersion = try object.required("systemVersion")
            appVersion = try object.optional("appVersion")
            locale = try object.optional("locale")
            timeZone = try object.optional("timeZone")
            liveActivitiesEnabled = try object.optional("liveActivitiesEnabled")
            frequentPushesEnabled = try object.optional("frequentPushesEnabled")
            startTokens = try object.optional("startTokens")
            topics = try object.optional("topics")
        }

        package func write(members object: inout JSONWriter) {
            if let sequence { object.member("sequence", sequence) }
            object.member("systemVersion", systemVersion)
            if let appVersion { object.member("appVersion", appVersion) }
            if let locale { object.member("locale", locale) }
            if let timeZone { object.member("timeZone", timeZone) }
            if let liveActivitiesEnabled { object.member("liveActivitiesEnabled", liveActivitiesEnabled) }
            if let frequentPushesEnabled { object.member("frequentPushesEnabled", frequentPushesEnabled) }
            if let startTokens { object.member("startTokens", startTokens) }
            if let topics { object.member("topics", topics) }
        }
    }
}

extension Contract {
    /// A push-to-start token.
    public struct StartTokenDraft: Sendable, Hashable, Codable, ContractObject {
        /// The name of the app's Swift type of attributes. A type has one token.
        public var attributesType: String
        /// A push token in hexadecimal digits. The server never logs it.
        public var token: String

        /// What is left out is not said.
        public init(attributesType: String, token: String) {
            self.attributesType = attributesType
            self.token = token
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            attributesType = try object.required("attributesType")
            token = try object.required("token")
        }

        package func write(members object: inout JSONWriter) {
            object.member("attributesType", attributesType)
            object.member("token", token)
        }
    }
}

extension Contract {
    /// The answer to a registration or a report.
    public struct Registered: Sendable, Hashable, Codable, ContractObject {
        /// The UUID that the app made.
        public var installationId: String
        /// The share of installations that are asked for receipts. The operator decides.
        public var receipts: Double
        /// Whether this one is asked.
        public var sampled: Bool

        /// What is left out is not said.
        public init(installationId: String, receipts: Double, sampled: Bool) {
            self.installationId = installationId
            self.receipts = receipts
            self.sampled = sampled
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            installationId = try object.required("installationId")
            receipts = try object.required("receipts")
            sampled = try object.required("sampled")
        }

        package func write(members object: inout JSONWriter) {
            object.member("installationId", installationId)
            object.member("receipts", receipts)
            object.member("sampled", sampled)
        }
    }
}

extension Contract {
    /// An installation as its own app sees it.
    public struct Installation: Sendable, Hashable, Codable, ContractObject {
        /// The UUID that the app made.
        public var installationId: String
        /// The share of installations that are asked for receipts.
        public var receipts: Double
        /// Whether this one is asked.
        public var sampled: Bool
        /// The newest that was sent. null: none was.
        public var sequence: Int?
        /// The version of iOS or iPadOS. Two numbers count; further ones are ignored.
        public var systemVersion: String
        /// The app's version.
        public var appVersion: String?
        /// The user's locale as a BCP 47 tag.
        public var locale: String?
        /// The name of the user's time zone.
        public var timeZone: String?
        /// Whether the user allows Live Activities.
        public var liveActivitiesEnabled: Bool
        /// Whether the user allows frequent pushes.
        public var frequentPushesEnabled: Bool
        /// Its push-to-start tokens, by type of attributes.
        public var startTokens: [StartToken]
        /// What the user follows.
        public var topics: [String]
        /// The activities that it reported.
        public var activities: [Activity]

        /// What is left out is not said.
        public init(
            installationId: String, receipts: Double, sampled: Bool, sequence: Int? = nil, systemVersion: String,
            appVersion: String? = nil, locale: String? = nil, timeZone: String? = nil, liveActivitiesEnabled: Bool,
            frequentPushesEnabled: Bool, startTokens: [StartToken], topics: [String], activities: [Activity]
        ) {
            self.installationId = installationId
            self.receipts = receipts
            self.sampled = sampled
            self.sequence = sequence
            self.systemVersion = systemVersion
            self.appVersion = appVersion
            self.locale = locale
            self.timeZone = timeZone
            self.liveActivitiesEnabled = liveActivitiesEnabled
            self.frequentPushesEnabled = frequentPushesEnabled
            self.startTokens = startTokens
            self.topics = topics
            self.activities = activities
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            installationId = try object.required("installationId")
            receipts = try object.required("receipts")
            sampled = try object.required("sampled")
            sequence = try object.optional("sequence")
            systemVersion = try object.required("systemVersion")
            appVersion = try object.optional("appVersion")
            locale = try object.optional("locale")
            timeZone = try object.optional("timeZone")
            liveActivitiesEnabled = try object.required("liveActivitiesEnabled")
            frequentPushesEnabled = try object.required("frequentPushesEnabled")
            startTokens = try object.required("startTokens")
            topics = try object.required("topics")
            activities = try object.required("activities")
        }

        package func write(members object: inout JSONWriter) {
            object.member("installationId", installationId)
            object.member("receipts", receipts)
            object.member("sampled", sampled)
            object.member("sequence", sequence)
            object.member("systemVersion", systemVersion)
            object.member("appVersion", appVersion)
            object.member("locale", locale)
            object.member("timeZone", timeZone)
            object.member("liveActivitiesEnabled", liveActivitiesEnabled)
            object.member("frequentPushesEnabled", frequentPushesEnabled)
            object.member("startTokens", startTokens)
            object.member("topics", topics)
            object.member("activities", activities)
        }
    }
}

extension Contract {
    /// A push-to-start token as the server knows it.
    public struct StartToken: Sendable, Hashable, Codable, ContractObject {
        /// The name of the app's Swift type of attributes.
        public var attributesType: String
        /// The last six digits of it.
        public var token: String
        /// true: APNs refused it. It is not used until it is registered again.
        public var suspect: Bool

        /// What is left out is not said.
        public init(attributesType: String, token: String, suspect: Bool) {
            self.attributesType = attributesType
            self.token = token
            self.suspect = suspect
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            attributesType = try object.required("attributesType")
            token = try object.required("token")
            suspect = try object.required("suspect")
        }

        package func write(members object: inout JSONWriter) {
            object.member("attributesType", attributesType)
            object.member("token", token)
            object.member("suspect", suspect)
        }
    }
}

extension Contract {
    /// What an app reports of a Live Activity.
    public struct ActivityDraft: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// The name of the app's Swift type of attributes.
        public var attributesType: String
        /// The state of a Live Activity as ActivityKit tells it to the app.
        public var state: ActivityState
        /// Its update token in hexadecimal digits. Left out, it stays as it was.
        public var updateToken: String?
        /// Apple's ID of the channel that it listens to. Left out, it stays as it was.
        public var channelId: String?

        /// What is left out is not said.
        public init(
            eventKey: String, attributesType: String, state: ActivityState, updateToken: String? = nil,
            channelId: String? = nil
        ) {
            self.eventKey = eventKey
            self.attributesType = attributesType
            self.state = state
            self.updateToken = updateToken
            self.channelId = channelId
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            attributesType = try object.required("attributesType")
            state = try object.required("state")
            updateToken = try object.optional("updateToken")
            channelId = try object.optional("channelId")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("attributesType", attributesType)
            object.member("state", state)
            if let updateToken { object.member("updateToken", updateToken) }
            if let channelId { object.member("channelId", channelId) }
        }
    }
}

extension Contract {
    /// A Live Activity that an installation reported.
    public struct Activity: Sendable, Hashable, Codable, ContractObject {
        /// ActivityKit's ID of it.
        public var activityId: String
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// The name of the app's Swift type of attributes.
        public var attributesType: String
        /// The state of a Live Activity as ActivityKit tells it to the app.
        public var state: ActivityState
        /// The last six digits of its update token. null: none was reported.
        public var updateToken: String?
        /// Apple's ID of the channel that it listens to. null: none was reported.
        public var channelId: String?

        /// What is left out is not said.
        public init(
            activityId: String, eventKey: String, attributesType: String, state: ActivityState,
            updateToken: String? = nil, channelId: String? = nil
        ) {
            self.activityId = activityId
            self.eventKey = eventKey
            self.attributesType = attributesType
            self.state = state
            self.updateToken = updateToken
            self.channelId = channelId
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            activityId = try object.required("activityId")
            eventKey = try object.required("eventKey")
            attributesType = try object.required("attributesType")
            state = try object.required("state")
            updateToken = try object.optional("updateToken")
            channelId = try object.optional("channelId")
        }

        package func write(members object: inout JSONWriter) {
            object.member("activityId", activityId)
            object.member("eventKey", eventKey)
            object.member("attributesType", attributesType)
            object.member("state", state)
            object.member("updateToken", updateToken)
            object.member("channelId", channelId)
        }
    }
}

extension Contract {
    /// When an installation of the sample showed messages.
    public struct ReceiptBatch: Sendable, Hashable, Codable, ContractObject {
        /// The app's clock as it sends this. With it the server corrects the times. Left out, they count as they are,
        /// because the app has corrected them by the Date of an answer.
        public var sentAt: Date?
        /// The receipts.
        public var items: [Receipt]

        /// What is left out is not said.
        public init(sentAt: Date? = nil, items: [Receipt]) {
            self.sentAt = sentAt
            self.items = items
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            sentAt = try object.optional("sentAt")
            items = try object.required("items")
        }

        package func write(members object: inout JSONWriter) {
            if let sentAt { object.member("sentAt", sentAt) }
            object.member("items", items)
        }
    }
}

extension Contract {
    /// When an installation showed a message.
    public struct Receipt: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// aps.timestamp of the message, in seconds since 1970.
        public var timestamp: Int
        /// When it was shown, by the app's clock.
        public var shownAt: Date

        /// What is left out is not said.
        public init(eventKey: String, timestamp: Int, shownAt: Date) {
            self.eventKey = eventKey
            self.timestamp = timestamp
            self.shownAt = shownAt
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            timestamp = try object.required("timestamp")
            shownAt = try object.required("shownAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("timestamp", timestamp)
            object.member("shownAt", shownAt)
        }
    }
}

extension Contract {
    /// How many receipts were recorded.
    public struct RecordedReceipts: Sendable, Hashable, Codable, ContractObject {
        /// How many were recorded, repeated ones included.
        public var recorded: Int
        /// How many were not.
        public var ignored: Int

        /// What is left out is not said.
        public init(recorded: Int, ignored: Int) {
            self.recorded = recorded
            self.ignored = ignored
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            recorded = try object.required("recorded")
            ignored = try object.required("ignored")
        }

        package func write(members object: inout JSONWriter) {
            object.member("recorded", recorded)
            object.member("ignored", ignored)
        }
    }
}

extension Contract {
    /// Numbers of an app's installations in one environment.
    public struct InstallationStatistics: Sendable, Hashable, Codable, ContractObject {
        /// How many there are.
        public var installations: Int
        /// How many, by major version of the system.
        public var systems: [String: Int]
        /// How many, by language; the 100 most frequent.
        public var locales: [String: Int]
        /// How many do not allow Live Activities.
        public var liveActivitiesDisabled: Int
        /// How many do not allow frequent pushes.
        public var frequentPushesDisabled: Int
        /// Push-to-start tokens by type of attributes; the 100 most frequent.
        public var startTokens: [String: RegisteredTokens]
        /// Tokens in numbers.
        public var updateTokens: RegisteredTokens

        /// What is left out is not said.
        public init(
            installations: Int, systems: [String: Int], locales: [String: Int], liveActivitiesDisabled: Int,
            frequentPushesDisabled: Int, startTokens: [String: RegisteredTokens], updateTokens: RegisteredTokens
        ) {
            self.installations = installations
            self.systems = systems
            self.locales = locales
            self.liveActivitiesDisabled = liveActivitiesDisabled
            self.frequentPushesDisabled = frequentPushesDisabled
            self.startTokens = startTokens
            self.updateTokens = updateTokens
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            installations = try object.required("installations")
            systems = try object.required("systems")
            locales = try object.required("locales")
            liveActivitiesDisabled = try object.required("liveActivitiesDisabled")
            frequentPushesDisabled = try object.required("frequentPushesDisabled")
            startTokens = try object.required("startTokens")
            updateTokens = try object.required("updateTokens")
        }

        package func write(members object: inout JSONWriter) {
            object.member("installations", installations)
            object.member("systems", systems)
            object.member("locales", locales)
            object.member("liveActivitiesDisabled", liveActivitiesDisabled)
            object.member("frequentPushesDisabled", frequentPushesDisabled)
            object.member("startTokens", startTokens)
            object.member("updateTokens", updateTokens)
        }
    }
}

extension Contract {
    /// Tokens in numbers.
    public struct RegisteredTokens: Sendable, Hashable, Codable, ContractObject {
        /// Tokens that are used.
        public var active: Int
        /// Tokens that APNs refused. They are not used until they are registered again.
        public var suspect: Int

        /// What is left out is not said.
        public init(active: Int, suspect: Int) {
            self.active = active
            self.suspect = suspect
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            active = try object.required("active")
            suspect = try object.required("suspect")
        }

        package func write(members object: inout JSONWriter) {
            object.member("active", active)
            object.member("suspect", suspect)
        }
    }
}

extension Contract {
    /// Which messages of an event the sampled devices showed, and how soon.
    public struct EventReceipts: Sendable, Hashable, Codable, ContractObject {
        /// The share of installations that are asked.
        public var share: Double
        /// One for each app and environment.
        public var audiences: [AudienceReceipts]

        /// What is left out is not said.
        public init(share: Double, audiences: [AudienceReceipts]) {
            self.share = share
            self.audiences = audiences
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            share = try object.required("share")
            audiences = try object.required("audiences")
        }

        package func write(members object: inout JSONWriter) {
            object.member("share", share)
            object.member("audiences", audiences)
        }
    }
}

extension Contract {
    /// What the sampled devices of one app and environment showed.
    public struct AudienceReceipts: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// Installations that are asked and reported an activity of the event or a receipt.
        public var sample: Int
        /// The newest message that APNs accepted. null: there is none.
        public var newest: MessageReceipts?
        /// By time: those of broadcasts, and of other timestamps the 100 most frequent.
        public var messages: [MessageReceipts]

        /// What is left out is not said.
        public init(
            bundleId: String, environment: Environment, sample: Int, newest: MessageReceipts? = nil,
            messages: [MessageReceipts]
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.sample = sample
            self.newest = newest
            self.messages = messages
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            sample = try object.required("sample")
            newest = try object.optional("newest")
            messages = try object.required("messages")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("sample", sample)
            object.member("newest", newest)
            object.member("messages", messages)
        }
    }
}

extension Contract {
    /// How many devices showed a message, and how soon after its acceptance.
    public struct MessageReceipts: Sendable, Hashable, Codable, ContractObject {
        /// aps.timestamp of the message, in seconds since 1970.
        public var timestamp: Int
        /// When its broadcast was accepted, or its sendAt. null: no known broadcast has this timestamp, as with the
        /// content of a start.
        public var acceptedAt: Date?
        /// Devices that showed it.
        public var shown: Int
        /// Of these, devices whose clock is five minutes off or more, or that gave a time after their receipt arrived.
        public var clockUnknown: Int
        /// Of these, devices that gave a time before it was accepted.
        public var shownEarly: Int
        /// Seconds from acceptance to the screen, of the other devices. null: there are none.
        public var seconds: Percentiles?

        /// What is left out is not said.
        public init(
            timestamp: Int, acceptedAt: Date? = nil, shown: Int, clockUnknown: Int, shownEarly: Int,
            seconds: Percentiles? = nil
        ) {
            self.timestamp = timestamp
            self.acceptedAt = acceptedAt
            self.shown = shown
            self.clockUnknown = clockUnknown
            self.shownEarly = shownEarly
            self.seconds = seconds
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            timestamp = try object.required("timestamp")
            acceptedAt = try object.optional("acceptedAt")
            shown = try object.required("shown")
            clockUnknown = try object.required("clockUnknown")
            shownEarly = try object.required("shownEarly")
            seconds = try object.optional("seconds")
        }

        package func write(members object: inout JSONWriter) {
            object.member("timestamp", timestamp)
            object.member("acceptedAt", acceptedAt)
            object.member("shown", shown)
            object.member("clockUnknown", clockUnknown)
            object.member("shownEarly", shownEarly)
            object.member("seconds", seconds)
        }
    }
}

extension Contract {
    /// The values that a share of all measurements do not exceed.
    public struct Percentiles: Sendable, Hashable, Codable, ContractObject {
        /// Of half of them.
        public var p50: Double
        /// Of 95 in a hundred.
        public var p95: Double
        /// Of 99 in a hundred.
        public var p99: Double

        /// What is left out is not said.
        public init(p50: Double, p95: Double, p99: Double) {
            self.p50 = p50
            self.p95 = p95
            self.p99 = p99
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            p50 = try object.required("p50")
            p95 = try object.required("p95")
            p99 = try object.required("p99")
        }

        package func write(members object: inout JSONWriter) {
            object.member("p50", p50)
            object.member("p95", p95)
            object.member("p99", p99)
        }
    }
}

extension Contract {
    /// Where messages are to be posted, and about what.
    public struct WebhookDraft: Sendable, Hashable, Codable, ContractObject {
        /// An absolute URL without user name and fragment. https only, unless GRANDSTAND_WEBHOOK_HTTP is set, and only
        /// to public addresses and GRANDSTAND_WEBHOOK_NETWORKS.
        public var url: String
        /// A text for people, at most 200 characters.
        public var description: String?
        /// What it is told. The key needs the scope of each.
        public var topics: [WebhookTopic]
        /// Only messages about this app.
        public var bundleId: String?
        /// Only messages about these apps, each once. Not together with bundleId. Without either, about what the key
        /// reaches.
        public var bundleIds: [String]?
        /// false: no message is made for it, and those that wait are not posted. Enabling it forgets its failures.
        public var enabled: Bool?

        /// What is left out is not said.
        public init(
            url: String, description: String? = nil, topics: [WebhookTopic], bundleId: String? = nil,
            bundleIds: [String]? = nil, enabled: Bool? = nil
        ) {
            self.url = url
            self.description = description
            self.topics = topics
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.enabled = enabled
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            url = try object.required("url")
            description = try object.optional("description")
            topics = try object.required("topics")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            enabled = try object.optional("enabled")
        }

        package func write(members object: inout JSONWriter) {
            object.member("url", url)
            if let description { object.member("description", description) }
            object.member("topics", topics)
            if let bundleId { object.member("bundleId", bundleId) }
            if let bundleIds { object.member("bundleIds", bundleIds) }
            if let enabled { object.member("enabled", enabled) }
        }
    }
}

extension Contract {
    /// How long the old secret signs, too.
    public struct WebhookRotation: Sendable, Hashable, Codable, ContractObject {
        /// Seconds for which messages carry the signature of the old secret, too, at most seven days.
        public var overlapSeconds: Int?

        /// What is left out is not said.
        public init(overlapSeconds: Int? = nil) {
            self.overlapSeconds = overlapSeconds
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            overlapSeconds = try object.optional("overlapSeconds")
        }

        package func write(members object: inout JSONWriter) {
            if let overlapSeconds { object.member("overlapSeconds", overlapSeconds) }
        }
    }
}

extension Contract {
    /// Where messages are posted, and about what.
    public struct Webhook: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it.
        public var id: String
        /// Where messages are posted.
        public var url: String
        /// A text for people.
        public var description: String?
        /// What it is told.
        public var topics: [WebhookTopic]
        /// The app that it is bound to, if it is a single one.
        public var bundleId: String?
        /// The apps that it is bound to. null: it is told of all.
        public var bundleIds: [String]?
        /// Whether messages are posted.
        public var enabled: Bool
        /// Why the server disabled it. null: it did not.
        public var reason: String?
        /// The first failure since the last success. null: the last post succeeded.
        public var failingSince: Date?
        /// Until when the old secret signs, too. null: there is none.
        public var previousSecretUntil: Date?
        /// When it was made.
        public var createdAt: Date
        /// When it was last changed.
        public var updatedAt: Date

        /// What is left out is not said.
        public init(
            id: String, url: String, description: String? = nil, topics: [WebhookTopic], bundleId: String? = nil,
            bundleIds: [String]? = nil, enabled: Bool, reason: String? = nil, failingSince: Date? = nil,
            previousSecretUntil: Date? = nil, createdAt: Date, updatedAt: Date
        ) {
            self.id = id
            self.url = url
            self.description = description
            self.topics = topics
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.enabled = enabled
            self.reason = reason
            self.failingSince = failingSince
            self.previousSecretUntil = previousSecretUntil
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            url = try object.required("url")
            description = try object.optional("description")
            topics = try object.required("topics")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            enabled = try object.required("enabled")
            reason = try object.optional("reason")
            failingSince = try object.optional("failingSince")
            previousSecretUntil = try object.optional("previousSecretUntil")
            createdAt = try object.required("createdAt")
            updatedAt = try object.required("updatedAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("url", url)
            object.member("description", description)
            object.member("topics", topics)
            object.member("bundleId", bundleId)
            object.member("bundleIds", bundleIds)
            object.member("enabled", enabled)
            object.member("reason", reason)
            object.member("failingSince", failingSince)
            object.member("previousSecretUntil", previousSecretUntil)
            object.member("createdAt", createdAt)
            object.member("updatedAt", updatedAt)
        }
    }
}

extension Contract {
    /// A webhook with a new secret.
    public struct IssuedWebhook: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it.
        public var id: String
        /// Where messages are posted.
        public var url: String
        /// A text for people.
        public var description: String?
        /// What it is told.
        public var topics: [WebhookTopic]
        /// The app that it is bound to, if it is a single one.
        public var bundleId: String?
        /// The apps that it is bound to. null: it is told of all.
        public var bundleIds: [String]?
        /// Whether messages are posted.
        public var enabled: Bool
        /// Why the server disabled it. null: it did not.
        public var reason: String?
        /// The first failure since the last success.
        public var failingSince: Date?
        /// Until when the old secret signs, too.
        public var previousSecretUntil: Date?
        /// When it was made.
        public var createdAt: Date
        /// When it was last changed.
        public var updatedAt: Date
        /// Signs as Standard Webhooks says. Only this answer has it.
        public var secret: String {
            get { hidden.rawValue }
            set { hidden = Secret(newValue) }
        }
        private var hidden: Secret

        /// What is left out is not said.
        public init(
            id: String, url: String, description: String? = nil, topics: [WebhookTopic], bundleId: String? = nil,
            bundleIds: [String]? = nil, enabled: Bool, reason: String? = nil, failingSince: Date? = nil,
            previousSecretUntil: Date? = nil, createdAt: Date, updatedAt: Date, secret: String
        ) {
            self.id = id
            self.url = url
            self.description = description
            self.topics = topics
            self.bundleId = bundleId
            self.bundleIds = bundleIds
            self.enabled = enabled
            self.reason = reason
            self.failingSince = failingSince
            self.previousSecretUntil = previousSecretUntil
            self.createdAt = createdAt
            self.updatedAt = updatedAt
            hidden = Secret(secret)
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            url = try object.required("url")
            description = try object.optional("description")
            topics = try object.required("topics")
            bundleId = try object.optional("bundleId")
            bundleIds = try object.optional("bundleIds")
            enabled = try object.required("enabled")
            reason = try object.optional("reason")
            failingSince = try object.optional("failingSince")
            previousSecretUntil = try object.optional("previousSecretUntil")
            createdAt = try object.required("createdAt")
            updatedAt = try object.required("updatedAt")
            hidden = Secret(try object.required("secret"))
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("url", url)
            object.member("description", description)
            object.member("topics", topics)
            object.member("bundleId", bundleId)
            object.member("bundleIds", bundleIds)
            object.member("enabled", enabled)
            object.member("reason", reason)
            object.member("failingSince", failingSince)
            object.member("previousSecretUntil", previousSecretUntil)
            object.member("createdAt", createdAt)
            object.member("updatedAt", updatedAt)
            object.member("secret", secret)
        }
    }
}

extension Contract {
    /// A page of webhooks.
    public typealias WebhookPage = Page<Webhook>
}

extension Contract {
    /// A message on its way to one webhook.
    public struct WebhookDelivery: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it.
        public var id: String
        /// The header webhook-id, the same in every attempt. Receivers tell repeats by it.
        public var messageId: String
        /// What a message to a webhook is about. The topics, and the test that nobody subscribes to.
        public var topic: WebhookMessageType
        /// How far a message to one webhook is.
        public var state: WebhookDeliveryState
        /// Attempts of all rounds, the one under way included.
        public var attempts: Int
        /// The receiver's last HTTP status. null: it did not answer.
        public var status: Int?
        /// Why the last attempt failed.
        public var reason: String?
        /// When the message was made.
        public var createdAt: Date
        /// When it is posted next.
        public var nextAttemptAt: Date?
        /// When it got its final state.
        public var settledAt: Date?

        /// What is left out is not said.
        public init(
            id: String, messageId: String, topic: WebhookMessageType, state: WebhookDeliveryState, attempts: Int,
            status: Int? = nil, reason: String? = nil, createdAt: Date, nextAttemptAt: Date? = nil,
            settledAt: Date? = nil
        ) {
            self.id = id
            self.messageId = messageId
            self.topic = topic
            self.state = state
            self.attempts = attempts
            self.status = status
            self.reason = reason
            self.createdAt = createdAt
            self.nextAttemptAt = nextAttemptAt
            self.settledAt = settledAt
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            messageId = try object.required("messageId")
            topic = try object.required("topic")
            state = try object.required("state")
            attempts = try object.required("attempts")
            status = try object.optional("status")
            reason = try object.optional("reason")
            createdAt = try object.required("createdAt")
            nextAttemptAt = try object.optional("nextAttemptAt")
            settledAt = try object.optional("settledAt")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("messageId", messageId)
            object.member("topic", topic)
            object.member("state", state)
            object.member("attempts", attempts)
            object.member("status", status)
            object.member("reason", reason)
            object.member("createdAt", createdAt)
            object.member("nextAttemptAt", nextAttemptAt)
            object.member("settledAt", settledAt)
        }
    }
}

extension Contract {
    /// A delivery with its message and every attempt.
    public struct WebhookDeliveryLog: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it.
        public var id: String
        /// The header webhook-id, the same in every attempt. Receivers tell repeats by it.
        public var messageId: String
        /// What a message to a webhook is about. The topics, and the test that nobody subscribes to.
        public var topic: WebhookMessageType
        /// How far a message to one webhook is.
        public var state: WebhookDeliveryState
        /// Attempts of all rounds, the one under way included.
        public var attempts: Int
        /// The receiver's last HTTP status. null: it did not answer.
        public var status: Int?
        /// Why the last attempt failed.
        public var reason: String?
        /// When the message was made.
        public var createdAt: Date
        /// When it is posted next.
        public var nextAttemptAt: Date?
        /// When it got its final state.
        public var settledAt: Date?
        /// The body that a receiver gets.
        public var message: WebhookMessage
        /// Every attempt, the oldest first.
        public var log: [WebhookAttempt]

        /// What is left out is not said.
        public init(
            id: String, messageId: String, topic: WebhookMessageType, state: WebhookDeliveryState, attempts: Int,
            status: Int? = nil, reason: String? = nil, createdAt: Date, nextAttemptAt: Date? = nil,
            settledAt: Date? = nil, message: WebhookMessage, log: [WebhookAttempt]
        ) {
            self.id = id
            self.messageId = messageId
            self.topic = topic
            self.state = state
            self.attempts = attempts
            self.status = status
            self.reason = reason
            self.createdAt = createdAt
            self.nextAttemptAt = nextAttemptAt
            self.settledAt = settledAt
            self.message = message
            self.log = log
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            messageId = try object.required("messageId")
            topic = try object.required("topic")
            state = try object.required("state")
            attempts = try object.required("attempts")
            status = try object.optional("status")
            reason = try object.optional("reason")
            createdAt = try object.required("createdAt")
            nextAttemptAt = try object.optional("nextAttemptAt")
            settledAt = try object.optional("settledAt")
            message = try object.required("message")
            log = try object.required("log")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("messageId", messageId)
            object.member("topic", topic)
            object.member("state", state)
            object.member("attempts", attempts)
            object.member("status", status)
            object.member("reason", reason)
            object.member("createdAt", createdAt)
            object.member("nextAttemptAt", nextAttemptAt)
            object.member("settledAt", settledAt)
            object.member("message", message)
            object.member("log", log)
        }
    }
}

extension Contract {
    /// One attempt to post a message.
    public struct WebhookAttempt: Sendable, Hashable, Codable, ContractObject {
        /// Its number, from 1.
        public var attempt: Int
        /// When it began.
        public var at: Date
        /// How long it took.
        public var milliseconds: Int
        /// The receiver's HTTP status. null: it did not answer.
        public var status: Int?
        /// Why it failed.
        public var reason: String?

        /// What is left out is not said.
        public init(attempt: Int, at: Date, milliseconds: Int, status: Int? = nil, reason: String? = nil) {
            self.attempt = attempt
            self.at = at
            self.milliseconds = milliseconds
            self.status = status
            self.reason = reason
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            attempt = try object.required("attempt")
            at = try object.required("at")
            milliseconds = try object.required("milliseconds")
            status = try object.optional("status")
            reason = try object.optional("reason")
        }

        package func write(members object: inout JSONWriter) {
            object.member("attempt", attempt)
            object.member("at", at)
            object.member("milliseconds", milliseconds)
            object.member("status", status)
            object.member("reason", reason)
        }
    }
}

extension Contract {
    /// A page of deliveries.
    public typealias WebhookDeliveryPage = Page<WebhookDelivery>
}

extension Contract {
    /// The body that a receiver gets.
    public struct WebhookMessage: Sendable, Hashable, Codable, ContractObject {
        /// What a message to a webhook is about. The topics, and the test that nobody subscribes to.
        public var type: WebhookMessageType
        /// When it happened.
        public var timestamp: Date
        /// What happened. type of the message says which of these it is.
        public var data: RawJSON

        /// What is left out is not said.
        public init(type: WebhookMessageType, timestamp: Date, data: RawJSON) {
            self.type = type
            self.timestamp = timestamp
            self.data = data
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            type = try object.required("type")
            timestamp = try object.required("timestamp")
            data = try object.required("data")
        }

        package func write(members object: inout JSONWriter) {
            object.member("type", type)
            object.member("timestamp", timestamp)
            object.member("data", data)
        }
    }
}

extension Contract {
    /// What happened. type of the message says which of these it is.
    public enum WebhookData: Sendable, Hashable, Codable, ContractValue {
        case broadcastSettled(BroadcastSettled)
        case channelMissing(ChannelLost)
        case channelReplaced(ChannelReplaced)
        case quotaLevel(QuotaLevelChanged)
        case reconciliationFound(ReconciliationFound)
        case capabilityOff(CapabilityOff)
        case throttleBegan(ThrottleBegan)
        case throttleEnded(ThrottleEnded)
        case webhookTest(WebhookTest)

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(json: JSONValue) throws {
            if let value = try? BroadcastSettled(json: json) {
                self = .broadcastSettled(value)
                return
            }
            if let value = try? ChannelLost(json: json) {
                self = .channelMissing(value)
                return
            }
            if let value = try? ChannelReplaced(json: json) {
                self = .channelReplaced(value)
                return
            }
            if let value = try? QuotaLevelChanged(json: json) {
                self = .quotaLevel(value)
                return
            }
            if let value = try? ReconciliationFound(json: json) {
                self = .reconciliationFound(value)
                return
            }
            if let value = try? CapabilityOff(json: json) {
                self = .capabilityOff(value)
                return
            }
            if let value = try? ThrottleBegan(json: json) {
                self = .throttleBegan(value)
                return
            }
            if let value = try? ThrottleEnded(json: json) {
                self = .throttleEnded(value)
                return
            }
            self = .webhookTest(try WebhookTest(json: json))
        }

        package func write(to json: inout JSONWriter) {
            switch self {
            case .broadcastSettled(let value): value.write(to: &json)
            case .channelMissing(let value): value.write(to: &json)
            case .channelReplaced(let value): value.write(to: &json)
            case .quotaLevel(let value): value.write(to: &json)
            case .reconciliationFound(let value): value.write(to: &json)
            case .capabilityOff(let value): value.write(to: &json)
            case .throttleBegan(let value): value.write(to: &json)
            case .throttleEnded(let value): value.write(to: &json)
            case .webhookTest(let value): value.write(to: &json)
            }
        }
    }
}

extension Contract {
    /// Every delivery of a broadcast has its final state, or it was withdrawn.
    public struct BroadcastSettled: Sendable, Hashable, Codable, ContractObject {
        /// The broadcast.
        public var id: String
        /// Its event. null: it went to a channel without an event.
        public var eventKey: String?
        /// The server's ID of the channel without an event that it went to.
        public var channel: String?
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// How far a broadcast or a push is, over all of its deliveries.
        public var state: BroadcastState
        /// When it was accepted.
        public var acceptedAt: Date
        /// When its last delivery got its final state.
        public var settledAt: Date
        /// How many deliveries are in each state.
        public var counts: [String: Int]
        /// How many were rejected or expired, by the reason.
        public var reasons: [String: Int]

        /// What is left out is not said.
        public init(
            id: String, eventKey: String? = nil, channel: String? = nil, event: BroadcastKind, state: BroadcastState,
            acceptedAt: Date, settledAt: Date, counts: [String: Int], reasons: [String: Int]
        ) {
            self.id = id
            self.eventKey = eventKey
            self.channel = channel
            self.event = event
            self.state = state
            self.acceptedAt = acceptedAt
            self.settledAt = settledAt
            self.counts = counts
            self.reasons = reasons
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            eventKey = try object.optional("eventKey")
            channel = try object.optional("channel")
            event = try object.required("event")
            state = try object.required("state")
            acceptedAt = try object.required("acceptedAt")
            settledAt = try object.required("settledAt")
            counts = try object.required("counts")
            reasons = try object.required("reasons")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("eventKey", eventKey)
            object.member("channel", channel)
            object.member("event", event)
            object.member("state", state)
            object.member("acceptedAt", acceptedAt)
            object.member("settledAt", settledAt)
            object.member("counts", counts)
            object.member("reasons", reasons)
        }
    }
}

extension Contract {
    /// Apple no longer has a channel.
    public struct ChannelLost: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the channel.
        public var id: String
        /// Apple's ID of it.
        public var channelId: String?
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The variant of the audience that it serves, if that has one.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// The event that it serves.
        public var eventKey: String?
        /// How the server noticed.
        public var reason: String?

        /// What is left out is not said.
        public init(
            id: String, channelId: String? = nil, bundleId: String, environment: Environment, variant: String? = nil,
            storagePolicy: StoragePolicy, eventKey: String? = nil, reason: String? = nil
        ) {
            self.id = id
            self.channelId = channelId
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.eventKey = eventKey
            self.reason = reason
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            channelId = try object.optional("channelId")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            storagePolicy = try object.required("storagePolicy")
            eventKey = try object.optional("eventKey")
            reason = try object.optional("reason")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("channelId", channelId)
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy)
            object.member("eventKey", eventKey)
            object.member("reason", reason)
        }
    }
}

extension Contract {
    /// An audience has another channel than before. Apps must look it up again.
    public struct ChannelReplaced: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the new channel.
        public var id: String
        /// Apple's ID of it.
        public var channelId: String?
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The variant of the audience that it serves, if that has one.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// The event that it serves.
        public var eventKey: String?
        /// The channel that another one replaced.
        public var replaced: ReplacedChannel

        /// What is left out is not said.
        public init(
            id: String, channelId: String? = nil, bundleId: String, environment: Environment, variant: String? = nil,
            storagePolicy: StoragePolicy, eventKey: String? = nil, replaced: ReplacedChannel
        ) {
            self.id = id
            self.channelId = channelId
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.eventKey = eventKey
            self.replaced = replaced
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            channelId = try object.optional("channelId")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            variant = try object.optional("variant")
            storagePolicy = try object.required("storagePolicy")
            eventKey = try object.optional("eventKey")
            replaced = try object.required("replaced")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("channelId", channelId)
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy)
            object.member("eventKey", eventKey)
            object.member("replaced", replaced)
        }
    }
}

extension Contract {
    /// The channel that another one replaced.
    public struct ReplacedChannel: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of it.
        public var id: String
        /// Apple's ID of it.
        public var channelId: String?

        /// What is left out is not said.
        public init(id: String, channelId: String? = nil) {
            self.id = id
            self.channelId = channelId
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            channelId = try object.optional("channelId")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("channelId", channelId)
        }
    }
}

extension Contract {
    /// The level of an app's quota changed.
    public struct QuotaLevelChanged: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// How much of an app's places are taken.
        public var level: QuotaLevel
        /// The level before.
        public var previousLevel: QuotaLevel?
        /// The app's channelLimit.
        public var limit: Int
        /// Channels at Apple, as far as the server knows.
        public var used: Int
        /// Places held for channels that are being created.
        public var reserved: Int
        /// Places that are free.
        public var available: Int
        /// Channels in Apple's list that the ledger does not have.
        public var unmanaged: Int

        /// What is left out is not said.
        public init(
            bundleId: String, environment: Environment, level: QuotaLevel, previousLevel: QuotaLevel? = nil, limit: Int,
            used: Int, reserved: Int, available: Int, unmanaged: Int
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.level = level
            self.previousLevel = previousLevel
            self.limit = limit
            self.used = used
            self.reserved = reserved
            self.available = available
            self.unmanaged = unmanaged
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            level = try object.required("level")
            previousLevel = try object.optional("previousLevel")
            limit = try object.required("limit")
            used = try object.required("used")
            reserved = try object.required("reserved")
            available = try object.required("available")
            unmanaged = try object.required("unmanaged")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("level", level)
            object.member("previousLevel", previousLevel)
            object.member("limit", limit)
            object.member("used", used)
            object.member("reserved", reserved)
            object.member("available", available)
            object.member("unmanaged", unmanaged)
        }
    }
}

extension Contract {
    /// A reconciliation found something new, acted, or raised an alarm. GET of its report says more.
    public struct ReconciliationFound: Sendable, Hashable, Codable, ContractObject {
        /// The report.
        public var id: String
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// When it began.
        public var startedAt: Date
        /// When it was done.
        public var finishedAt: Date
        /// Whether the actions were carried out.
        public var applied: Bool
        /// Channels in Apple's list.
        public var apple: Int
        /// Channels of the ledger that should be in it.
        public var ledger: Int
        /// How many channels Apple's list lacks.
        public var missing: Int
        /// How many channels the ledger lacks.
        public var unmanaged: Int
        /// Of these, how many were seen for the first time.
        public var newUnmanaged: Int
        /// How many actions there are.
        public var actions: Int
        /// Why a person has to decide.
        public var alarm: ReconciliationAlarm?

        /// What is left out is not said.
        public init(
            id: String, bundleId: String, environment: Environment, startedAt: Date, finishedAt: Date, applied: Bool,
            apple: Int, ledger: Int, missing: Int, unmanaged: Int, newUnmanaged: Int, actions: Int,
            alarm: ReconciliationAlarm? = nil
        ) {
            self.id = id
            self.bundleId = bundleId
            self.environment = environment
            self.startedAt = startedAt
            self.finishedAt = finishedAt
            self.applied = applied
            self.apple = apple
            self.ledger = ledger
            self.missing = missing
            self.unmanaged = unmanaged
            self.newUnmanaged = newUnmanaged
            self.actions = actions
            self.alarm = alarm
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            startedAt = try object.required("startedAt")
            finishedAt = try object.required("finishedAt")
            applied = try object.required("applied")
            apple = try object.required("apple")
            ledger = try object.required("ledger")
            missing = try object.required("missing")
            unmanaged = try object.required("unmanaged")
            newUnmanaged = try object.required("newUnmanaged")
            actions = try object.required("actions")
            alarm = try object.optional("alarm")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("startedAt", startedAt)
            object.member("finishedAt", finishedAt)
            object.member("applied", applied)
            object.member("apple", apple)
            object.member("ledger", ledger)
            object.member("missing", missing)
            object.member("unmanaged", unmanaged)
            object.member("newUnmanaged", newUnmanaged)
            object.member("actions", actions)
            object.member("alarm", alarm)
        }
    }
}

extension Contract {
    /// Apple's capability for broadcasts is off for an app.
    public struct CapabilityOff: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// How the server noticed.
        public var evidence: String

        /// What is left out is not said.
        public init(bundleId: String, environment: Environment, evidence: String) {
            self.bundleId = bundleId
            self.environment = environment
            self.evidence = evidence
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            evidence = try object.required("evidence")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("evidence", evidence)
        }
    }
}

extension Contract {
    /// APNs began to throttle an app. It answered 429 to several of its lanes.
    public struct ThrottleBegan: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// One of the two interfaces of APNs that can be throttled.
        public var api: APNsAPI
        /// The time of the first 429.
        public var since: Date
        /// Messages a second that the server now sends.
        public var ratePerSecond: Double

        /// What is left out is not said.
        public init(bundleId: String, environment: Environment, api: APNsAPI, since: Date, ratePerSecond: Double) {
            self.bundleId = bundleId
            self.environment = environment
            self.api = api
            self.since = since
            self.ratePerSecond = ratePerSecond
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            api = try object.required("api")
            since = try object.required("since")
            ratePerSecond = try object.required("ratePerSecond")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("api", api)
            object.member("since", since)
            object.member("ratePerSecond", ratePerSecond)
        }
    }
}

extension Contract {
    /// APNs no longer throttles an app. No 429 came for 300 seconds.
    public struct ThrottleEnded: Sendable, Hashable, Codable, ContractObject {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// One of the two interfaces of APNs that can be throttled.
        public var api: APNsAPI
        /// The time of the first 429.
        public var since: Date

        /// What is left out is not said.
        public init(bundleId: String, environment: Environment, api: APNsAPI, since: Date) {
            self.bundleId = bundleId
            self.environment = environment
            self.api = api
            self.since = since
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            bundleId = try object.required("bundleId")
            environment = try object.required("environment")
            api = try object.required("api")
            since = try object.required("since")
        }

        package func write(members object: inout JSONWriter) {
            object.member("bundleId", bundleId)
            object.member("environment", environment)
            object.member("api", api)
            object.member("since", since)
        }
    }
}

extension Contract {
    /// Somebody tries the webhook.
    public struct WebhookTest: Sendable, Hashable, Codable, ContractObject {
        /// The webhook.
        public var webhook: String
        /// Who did it: key: and the name of an API key, command-line for an operator at the server, grandstand for the
        /// server itself.
        public var by: String

        /// What is left out is not said.
        public init(webhook: String, by: String) {
            self.webhook = webhook
            self.by = by
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            webhook = try object.required("webhook")
            by = try object.required("by")
        }

        package func write(members object: inout JSONWriter) {
            object.member("webhook", webhook)
            object.member("by", by)
        }
    }
}

extension Contract {
    /// The server-sent event snapshot. An event's state and its 20 newest broadcasts.
    public struct LiveBoard: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// How far an event is.
        public var state: EventState
        /// The newest first.
        public var broadcasts: [BroadcastSummary]

        /// What is left out is not said.
        public init(eventKey: String, state: EventState, broadcasts: [BroadcastSummary]) {
            self.eventKey = eventKey
            self.state = state
            self.broadcasts = broadcasts
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            state = try object.required("state")
            broadcasts = try object.required("broadcasts")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("state", state)
            object.member("broadcasts", broadcasts)
        }
    }
}

extension Contract {
    /// The server-sent event broadcast. A broadcast that is new or has changed.
    public struct BroadcastSummary: Sendable, Hashable, Codable, ContractObject {
        /// The broadcast.
        public var id: String
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// How far a broadcast or a push is, over all of its deliveries.
        public var state: BroadcastState
        /// When it was accepted.
        public var acceptedAt: Date
        /// When it is or was sent, if not at once.
        public var sendAt: Date?
        /// How many deliveries are in each state.
        public var counts: [String: Int]

        /// What is left out is not said.
        public init(
            id: String, event: BroadcastKind, state: BroadcastState, acceptedAt: Date, sendAt: Date? = nil,
            counts: [String: Int]
        ) {
            self.id = id
            self.event = event
            self.state = state
            self.acceptedAt = acceptedAt
            self.sendAt = sendAt
            self.counts = counts
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            event = try object.required("event")
            state = try object.required("state")
            acceptedAt = try object.required("acceptedAt")
            sendAt = try object.optional("sendAt")
            counts = try object.required("counts")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("event", event)
            object.member("state", state)
            object.member("acceptedAt", acceptedAt)
            if let sendAt { object.member("sendAt", sendAt) }
            object.member("counts", counts)
        }
    }
}

extension Contract {
    /// The server-sent event state. The event's own state has changed.
    public struct EventStateChange: Sendable, Hashable, Codable, ContractObject {
        /// How far an event is.
        public var state: EventState

        /// What is left out is not said.
        public init(state: EventState) {
            self.state = state
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            state = try object.required("state")
        }

        package func write(members object: inout JSONWriter) {
            object.member("state", state)
        }
    }
}

extension Contract {
    /// The process runs.
    public struct Health: Sendable, Hashable, Codable, ContractObject {
        /// Always ok.
        public var status: String

        /// What is left out is not said.
        public init(status: String) {
            self.status = status
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            status = try object.required("status")
        }

        package func write(members object: inout JSONWriter) {
            object.member("status", status)
        }
    }
}

extension Contract {
    /// Whether the server can take requests.
    public struct Readiness: Sendable, Hashable, Codable, ContractObject {
        /// Whether this server can take requests.
        public var status: ReadinessStatus
        /// Whether the database can be used.
        public var database: DatabaseState
        /// What stands in the way, in words.
        public var detail: String?
        /// How APNs was reached lately. It does not decide whether the server is ready, because accepted messages wait
        /// for it.
        public var apns: APNsReadiness

        /// What is left out is not said.
        public init(status: ReadinessStatus, database: DatabaseState, detail: String? = nil, apns: APNsReadiness) {
            self.status = status
            self.database = database
            self.detail = detail
            self.apns = apns
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            status = try object.required("status")
            database = try object.required("database")
            detail = try object.optional("detail")
            apns = try object.required("apns")
        }

        package func write(members object: inout JSONWriter) {
            object.member("status", status)
            object.member("database", database)
            object.member("detail", detail)
            object.member("apns", apns)
        }
    }
}

extension Contract {
    /// How APNs was reached lately. It does not decide whether the server is ready, because accepted messages wait for
    /// it.
    public struct APNsReadiness: Sendable, Hashable, Codable, ContractObject {
        /// How one environment of APNs was reached lately.
        public var development: APNsState
        /// How one environment of APNs was reached lately.
        public var production: APNsState

        /// What is left out is not said.
        public init(development: APNsState, production: APNsState) {
            self.development = development
            self.production = production
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            development = try object.required("development")
            production = try object.required("production")
        }

        package func write(members object: inout JSONWriter) {
            object.member("development", development)
            object.member("production", production)
        }
    }
}

extension Contract {
    /// How one environment of APNs was reached lately.
    public struct APNsState: Sendable, Hashable, Codable, ContractObject {
        /// Whether APNs could be reached lately.
        public var state: APNsReachability
        /// Why it cannot be reached, or which key it refuses.
        public var reason: String?

        /// What is left out is not said.
        public init(state: APNsReachability, reason: String? = nil) {
            self.state = state
            self.reason = reason
        }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            state = try object.required("state")
            reason = try object.optional("reason")
        }

        package func write(members object: inout JSONWriter) {
            object.member("state", state)
            object.member("reason", reason)
        }
    }
}

extension Contract {
    /// Every object and union by the name of its schema.
    package static var values: [String: any (ContractValue & Codable).Type] {
        [
            "Problem": Problem.self,
            "FieldError": FieldError.self,
            "APNsRefusal": APNsRefusal.self,
            "AppDraft": AppDraft.self,
            "AppPreview": AppPreview.self,
            "Overrides": Overrides.self,
            "Override": Override.self,
            "App": App.self,
            "CredentialRefusal": CredentialRefusal.self,
            "AppName": AppName.self,
            "QuirkDraft": QuirkDraft.self,
            "Quirk": Quirk.self,
            "ChannelDraft": ChannelDraft.self,
            "ChannelImport": ChannelImport.self,
            "Channel": Channel.self,
            "Verification": Verification.self,
            "Audience": Audience.self,
            "AudienceSelector": AudienceSelector.self,
            "EventDraft": EventDraft.self,
            "EventDefaults": EventDefaults.self,
            "Event": Event.self,
            "ReopenedEvent": ReopenedEvent.self,
            "ReopenedChannel": ReopenedChannel.self,
            "ReopenOrder": ReopenOrder.self,
            "EventAudience": EventAudience.self,
            "AudienceChannel": AudienceChannel.self,
            "StartDraft": StartDraft.self,
            "Start": Start.self,
            "StartOrder": StartOrder.self,
            "StartCounts": StartCounts.self,
            "IneligibleCounts": IneligibleCounts.self,
            "StartReport": StartReport.self,
            "AudienceStart": AudienceStart.self,
            "FollowedTopic": FollowedTopic.self,
            "Lookup": Lookup.self,
            "Followable": Followable.self,
            "LookupBatch": LookupBatch.self,
            "LookupBatchAnswer": LookupBatchAnswer.self,
            "MissingLookup": MissingLookup.self,
            "LocalizedText": LocalizedText.self,
            "LocalizedKey": LocalizedKey.self,
            "Alert": Alert.self,
            "SendTime": SendTime.self,
            "AfterStart": AfterStart.self,
            "BroadcastDraft": BroadcastDraft.self,
            "VariantContent": VariantContent.self,
            "BroadcastItem": BroadcastItem.self,
            "BroadcastBatch": BroadcastBatch.self,
            "BroadcastBatchResult": BroadcastBatchResult.self,
            "BroadcastOutcome": BroadcastOutcome.self,
            "RefusedBroadcast": RefusedBroadcast.self,
            "Broadcast": Broadcast.self,
            "BroadcastPreview": BroadcastPreview.self,
            "AudiencePreview": AudiencePreview.self,
            "RenderedPreview": RenderedPreview.self,
            "Delivery": Delivery.self,
            "TokenCounts": TokenCounts.self,
            "PushDraft": PushDraft.self,
            "Push": Push.self,
            "PushDelivery": PushDelivery.self,
            "Quota": Quota.self,
            "KeyRefused": KeyRefused.self,
            "Throttled": Throttled.self,
            "AppleCount": AppleCount.self,
            "Forecast": Forecast.self,
            "QuotaHistory": QuotaHistory.self,
            "QuotaSample": QuotaSample.self,
            "ReconciliationDraft": ReconciliationDraft.self,
            "Reconciliation": Reconciliation.self,
            "MissingChannel": MissingChannel.self,
            "UnmanagedChannel": UnmanagedChannel.self,
            "ReconciliationAction": ReconciliationAction.self,
            "AuditEntry": AuditEntry.self,
            "AuditAnswer": AuditAnswer.self,
            "KeyDraft": KeyDraft.self,
            "RotationDraft": RotationDraft.self,
            "Key": Key.self,
            "IssuedKey": IssuedKey.self,
            "InstallationDraft": InstallationDraft.self,
            "StartTokenDraft": StartTokenDraft.self,
            "Registered": Registered.self,
            "Installation": Installation.self,
            "StartToken": StartToken.self,
            "ActivityDraft": ActivityDraft.self,
            "Activity": Activity.self,
            "ReceiptBatch": ReceiptBatch.self,
            "Receipt": Receipt.self,
            "RecordedReceipts": RecordedReceipts.self,
            "InstallationStatistics": InstallationStatistics.self,
            "RegisteredTokens": RegisteredTokens.self,
            "EventReceipts": EventReceipts.self,
            "AudienceReceipts": AudienceReceipts.self,
            "MessageReceipts": MessageReceipts.self,
            "Percentiles": Percentiles.self,
            "WebhookDraft": WebhookDraft.self,
            "WebhookRotation": WebhookRotation.self,
            "Webhook": Webhook.self,
            "IssuedWebhook": IssuedWebhook.self,
            "WebhookDelivery": WebhookDelivery.self,
            "WebhookDeliveryLog": WebhookDeliveryLog.self,
            "WebhookAttempt": WebhookAttempt.self,
            "WebhookMessage": WebhookMessage.self,
            "WebhookData": WebhookData.self,
            "BroadcastSettled": BroadcastSettled.self,
            "ChannelLost": ChannelLost.self,
            "ChannelReplaced": ChannelReplaced.self,
            "ReplacedChannel": ReplacedChannel.self,
            "QuotaLevelChanged": QuotaLevelChanged.self,
            "ReconciliationFound": ReconciliationFound.self,
            "CapabilityOff": CapabilityOff.self,
            "ThrottleBegan": ThrottleBegan.self,
            "ThrottleEnded": ThrottleEnded.self,
            "WebhookTest": WebhookTest.self,
            "LiveBoard": LiveBoard.self,
            "BroadcastSummary": BroadcastSummary.self,
            "EventStateChange": EventStateChange.self,
            "Health": Health.self,
            "Readiness": Readiness.self,
            "APNsReadiness": APNsReadiness.self,
            "APNsState": APNsState.self,
        ]
    }
}
