// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy for
    /// its whole life.
    public struct StoragePolicy: ContractWord {
        /// APNs sends each message once. A device that is offline misses it.
        public static let noMessageStored = Self(rawValue: "noMessageStored")
        /// APNs stores the newest message until its expiration. A device that was offline gets that one.
        public static let mostRecentMessageStored = Self(rawValue: "mostRecentMessageStored")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .noMessageStored,
            .mostRecentMessageStored,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// A channel to be created at Apple, without an event.
    public struct ChannelDraft: Sendable, Hashable, Codable, ContractObject {
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// A name for people, at most 200 characters.
        public var label: String?

        /// Members that are `nil` are left out.
        public init(storagePolicy: StoragePolicy, label: String? = nil) {
            self.storagePolicy = storagePolicy
            self.label = label
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            storagePolicy = try object.required("storagePolicy")
            label = try object.optional("label")
        }

        package func write(members object: inout JSONWriter) {
            object.member("storagePolicy", storagePolicy.rawValue)
            if let label { object.member("label", label) }
        }
    }

    /// A channel that was made elsewhere.
    public struct ChannelImport: Sendable, Hashable, Codable, ContractObject {
        /// Apple's ID of a channel, unchanged. Apps pass it to ActivityKit, pushType .channel(…).
        public var channelId: String
        /// A name for people, at most 200 characters.
        public var label: String?
        /// The event for which the channel is. Left out: none.
        public var eventKey: String?
        /// With eventKey only: the variant of the audience for which the channel is. Left out: the audience without a
        /// variant.
        public var variant: String?

        /// Members that are `nil` are left out.
        public init(channelId: String, label: String? = nil, eventKey: String? = nil, variant: String? = nil) {
            self.channelId = channelId
            self.label = label
            self.eventKey = eventKey
            self.variant = variant
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
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

    /// A channel of the ledger, or with managed=false one that only Apple's list has. In the latter, id, eventKey,
    /// label, reason and nextAttemptAt are null; it has firstSeenAt, but no state and no createdAt.
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
        /// The state of a channel, as the server knows it.
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
        /// Apple's present answer about a channel. Only with verify=true.
        public var verified: Verification?

        /// Members that are `nil` are left out.
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
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
            object.member("environment", environment.rawValue)
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy?.rawValue)
            if let state { object.member("state", state.rawValue) }
            object.member("eventKey", eventKey)
            object.member("label", label)
            object.member("reason", reason)
            object.member("nextAttemptAt", nextAttemptAt)
            if let createdAt { object.member("createdAt", createdAt) }
            if let firstSeenAt { object.member("firstSeenAt", firstSeenAt) }
            object.member("managed", managed)
            if let verified { object.member("verified", verified) }
        }
    }

    /// Apple's present answer about a channel. Only with verify=true.
    public struct Verification: Sendable, Hashable, Codable, ContractObject {
        /// Whether Apple has it.
        public var exists: Bool
        /// Its policy at Apple. null where Apple does not have it.
        public var storagePolicy: StoragePolicy?
        /// When Apple answered.
        public var at: Date

        /// Members that are `nil` are left out.
        public init(exists: Bool, storagePolicy: StoragePolicy? = nil, at: Date) {
            self.exists = exists
            self.storagePolicy = storagePolicy
            self.at = at
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            exists = try object.required("exists")
            storagePolicy = try object.optional("storagePolicy")
            at = try object.required("at")
        }

        package func write(members object: inout JSONWriter) {
            object.member("exists", exists)
            object.member("storagePolicy", storagePolicy?.rawValue)
            object.member("at", at)
        }
    }

    /// A page of channels.
    public typealias ChannelPage = Page<Channel>
}
