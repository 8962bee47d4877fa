// Generated from openapi.yaml by `make contract`. Do not edit.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy for
    /// its whole life.
    public enum StoragePolicy: ContractWord {
        /// APNs sends each message once. A device that is offline misses it.
        case noMessageStored
        /// APNs stores the newest message until its expiration. A device that was offline gets that one.
        case mostRecentMessageStored
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.noMessageStored, .mostRecentMessageStored]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .noMessageStored: "noMessageStored"
            case .mostRecentMessageStored: "mostRecentMessageStored"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// A channel to be created at Apple, without an event.
    public struct ChannelDraft: Codable, Sendable, Hashable {
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
    }

    /// A channel that was made elsewhere.
    public struct ChannelImport: Codable, Sendable, Hashable {
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
    }

    /// A channel of the ledger, or with managed=false one that only Apple's list has. In the latter, id, eventKey,
    /// label, reason and nextAttemptAt are null; it has firstSeenAt, but no state and no createdAt.
    public struct Channel: Codable, Sendable, Hashable, ContractAnswer {
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
        /// Its policy. null for a channel that only Apple's list has.
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

        package static let leftOut = ["variant", "state", "createdAt", "firstSeenAt", "verified"]

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
    }

    /// Apple's present answer about a channel. Only with verify=true.
    public struct Verification: Codable, Sendable, Hashable, ContractAnswer {
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
    }

    /// A page of channels.
    public typealias ChannelPage = Page<Channel>
}
