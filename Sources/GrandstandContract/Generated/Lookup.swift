// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// The states of events that people can still follow.
    public struct FollowableState: ContractWord {
        /// startsAt is in the future and nothing was sent.
        public static let scheduled = Self(rawValue: "scheduled")
        /// startsAt has passed or an update was sent.
        public static let live = Self(rawValue: "live")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .scheduled,
            .live,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Why a lookup of one event in a batch found no channel.
    public struct MissingReason: ContractWord {
        /// There is no such event for this app.
        public static let eventNotFound = Self(rawValue: "event-not-found")
        /// The event has other variants for this app.
        public static let variantNotFound = Self(rawValue: "variant-not-found")
        /// The channel does not exist yet.
        public static let channelPending = Self(rawValue: "channel-pending")
        /// The event is over.
        public static let eventEnded = Self(rawValue: "event-ended")
        /// The server cannot know now, because its database is away. Ask again.
        public static let storeUnavailable = Self(rawValue: "store-unavailable")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .eventNotFound,
            .variantNotFound,
            .channelPending,
            .eventEnded,
            .storeUnavailable,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What a lookup adds.
    public struct LookupInclude: ContractWord {
        /// The newest accepted content with its timestamp.
        public static let contentState = Self(rawValue: "contentState")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .contentState
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What an app needs to start a Live Activity for an event.
    public struct Lookup: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// Apple's ID of the channel, for pushType .channel(…). null only where delivery is tokens.
        public var channelId: String?
        /// Only for tokens: the event has no channel for this app. Start the activity with an update token and report
        /// the token.
        public var delivery: AudienceDelivery?
        /// The variant of the audience that was found, if it has one.
        public var variant: String?
        /// All variants that the event has for this app and environment, in the order of their declaration. Left out
        /// where there are none.
        public var variants: [String]?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// The state of an event.
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

        /// Members that are `nil` are left out.
        public init(
            eventKey: String, channelId: String? = nil, delivery: AudienceDelivery? = nil, variant: String? = nil,
            variants: [String]? = nil, storagePolicy: StoragePolicy, state: EventState, startsAt: Date? = nil,
            endsAt: Date? = nil, contentState: RawJSON? = nil, timestamp: Int? = nil
        ) {
            self.eventKey = eventKey
            self.channelId = channelId
            self.delivery = delivery
            self.variant = variant
            self.variants = variants
            self.storagePolicy = storagePolicy
            self.state = state
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.contentState = contentState
            self.timestamp = timestamp
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            channelId = try object.optional("channelId")
            delivery = try object.optional("delivery")
            variant = try object.optional("variant")
            variants = try object.optional("variants")
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
            if let delivery { object.member("delivery", delivery.rawValue) }
            if let variant { object.member("variant", variant) }
            if let variants { object.member("variants", variants) }
            object.member("storagePolicy", storagePolicy.rawValue)
            object.member("state", state.rawValue)
            object.member("startsAt", startsAt)
            object.member("endsAt", endsAt)
            if let contentState { object.member("contentState", contentState) }
            if let timestamp { object.member("timestamp", timestamp) }
        }
    }

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

        /// Members that are `nil` are left out.
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

        /// All members of the other, and these.
        package init(state: FollowableState, name: String, kind: String? = nil, topics: [String], _ base: Lookup) {
            self.eventKey = base.eventKey
            self.channelId = base.channelId
            self.delivery = base.delivery
            self.variant = base.variant
            self.storagePolicy = base.storagePolicy
            self.state = state
            self.startsAt = base.startsAt
            self.endsAt = base.endsAt
            self.name = name
            self.kind = kind
            self.topics = topics
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
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
            if let delivery { object.member("delivery", delivery.rawValue) }
            if let variant { object.member("variant", variant) }
            object.member("storagePolicy", storagePolicy.rawValue)
            object.member("state", state.rawValue)
            object.member("startsAt", startsAt)
            object.member("endsAt", endsAt)
            object.member("name", name)
            object.member("kind", kind)
            object.member("topics", topics)
        }
    }

    /// A page of events that an app may offer to follow.
    public typealias FollowablePage = Page<Followable>

    /// Which events to look up.
    public struct LookupBatch: Sendable, Hashable, Codable, ContractObject {
        /// Keys of events. One that cannot be a key is reported as missing.
        public var eventKeys: [String]

        /// Members that are `nil` are left out.
        public init(eventKeys: [String]) {
            self.eventKeys = eventKeys
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKeys = try object.required("eventKeys")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKeys", eventKeys)
        }
    }

    /// The lookups that found a channel, and the reason for each that did not.
    public struct LookupBatchAnswer: Sendable, Hashable, Codable, ContractObject {
        /// Those that were found, in the order of the request.
        public var items: [Lookup]
        /// Those that were not found, in the order of the request.
        public var missing: [MissingLookup]

        /// Members that are `nil` are left out.
        public init(items: [Lookup], missing: [MissingLookup]) {
            self.items = items
            self.missing = missing
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
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

    /// An event of a batch without a channel.
    public struct MissingLookup: Sendable, Hashable, Codable, ContractObject {
        /// As it was asked for.
        public var eventKey: String
        /// Why a lookup of one event in a batch found no channel.
        public var reason: MissingReason

        /// Members that are `nil` are left out.
        public init(eventKey: String, reason: MissingReason) {
            self.eventKey = eventKey
            self.reason = reason
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            reason = try object.required("reason")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("reason", reason.rawValue)
        }
    }
}
