// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// What a push does to the Live Activity of its token.
    public struct MessageKind: ContractWord {
        /// Starts an activity. The token is a push-to-start token.
        public static let start = Self(rawValue: "start")
        /// Changes the content that it shows.
        public static let update = Self(rawValue: "update")
        /// Ends it. No update follows.
        public static let end = Self(rawValue: "end")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .start,
            .update,
            .end,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
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
        /// The alert. It reaches the app byte for byte. Required for start.
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
        /// Orders an app's activities: the one with the highest score is shown first.
        public var relevanceScore: Double? {
            get { relevanceScoreText?.value }
            set { relevanceScoreText = newValue.map(KeptNumber.init) }
        }
        /// Its text, as it was read.
        package var relevanceScoreText: KeptNumber?
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

        /// Members that are `nil` are left out.
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
            relevanceScoreText = relevanceScore.map(KeptNumber.init)
            self.sendAt = sendAt
            self.attributesType = attributesType
            self.attributes = attributes
            self.inputPushChannel = inputPushChannel
            self.inputPushToken = inputPushToken
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
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
            relevanceScoreText = try object.optional("relevanceScore")
            sendAt = try object.optional("sendAt")
            attributesType = try object.optional("attributesType")
            attributes = try object.optional("attributes")
            inputPushChannel = try object.optional("inputPushChannel")
            inputPushToken = try object.optional("inputPushToken")
        }

        package func write(members object: inout JSONWriter) {
            object.member("token", token)
            object.member("event", event.rawValue)
            if let contentState { object.member("contentState", contentState) }
            if let alert { object.member("alert", alert) }
            if let priority { object.member("priority", priority) }
            if let expiresIn { object.member("expiresIn", expiresIn) }
            if let apnsExpiration { object.member("apnsExpiration", apnsExpiration) }
            if let staleDate { object.member("staleDate", staleDate) }
            if let dismissalDate { object.member("dismissalDate", dismissalDate) }
            if let relevanceScoreText { object.member("relevanceScore", relevanceScoreText) }
            if let sendAt { object.member("sendAt", sendAt) }
            if let attributesType { object.member("attributesType", attributesType) }
            if let attributes { object.member("attributes", attributes) }
            if let inputPushChannel { object.member("inputPushChannel", inputPushChannel) }
            if let inputPushToken { object.member("inputPushToken", inputPushToken) }
        }
    }
}

extension Contract {
    /// A push to one token, and its progress.
    public struct Push: Sendable, Hashable, Codable, ContractObject {
        /// The server's ID of the resource.
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
        /// The state of a broadcast or a push, from all of its deliveries.
        public var state: BroadcastState
        /// When it was accepted. From then on it is durable.
        public var acceptedAt: Date
        /// When it is or was sent, if not at once.
        public var sendAt: Date?
        /// Who asked for it, as actor of the audit log. null: it was not recorded.
        public var by: String?
        /// Who withdrew it, as actor of the audit log. Absent: nobody did, or it was not recorded.
        public var withdrawnBy: String?
        /// The state of its message. null until its sendAt.
        public var delivery: PushDelivery?
        /// Possible mistakes, as with a broadcast.
        public var warnings: [String]

        /// Members that are `nil` are left out.
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
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
            object.member("environment", environment.rawValue)
            object.member("token", token)
            object.member("event", event.rawValue)
            object.member("state", state.rawValue)
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
    /// The state of a push's message.
    public struct PushDelivery: Sendable, Hashable, Codable, ContractObject {
        /// The state of the message to one audience, or of a push to one token.
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
        /// Why it waits or failed, as Apple's word or as a sentence of the server.
        public var reason: String?
        /// When it is tried next.
        public var nextAttemptAt: Date?
        /// When it got its final state. null: it has none yet.
        public var settledAt: Date?

        /// Members that are `nil` are left out.
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
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
            object.member("state", state.rawValue)
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
