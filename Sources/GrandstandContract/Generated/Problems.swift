// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

extension Contract {
    /// The state of a channel, as the server knows it.
    public struct ChannelState: ContractWord {
        /// The server asks Apple to create it. Apple has not answered yet.
        public static let creating = Self(rawValue: "creating")
        /// Apple has issued its ID. Messages are sent to it and lookups answer it.
        public static let active = Self(rawValue: "active")
        /// No event needs it. It is kept for a while, because devices may still listen to it.
        public static let retiring = Self(rawValue: "retiring")
        /// The server asks Apple to delete it.
        public static let deleting = Self(rawValue: "deleting")
        /// Apple confirmed the deletion, or did not know the channel. This state is final.
        public static let deleted = Self(rawValue: "deleted")
        /// Apple no longer has it, though an event needs it.
        public static let missing = Self(rawValue: "missing")
        /// Apple refused to create it, or there was no place left. The server tries again at nextAttemptAt.
        public static let failed = Self(rawValue: "failed")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .creating,
            .active,
            .retiring,
            .deleting,
            .deleted,
            .missing,
            .failed,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// A refusal (RFC 9457). type ends in a ProblemKind, which programs compare; title and detail are for people. The
    /// members after apns come only with some kinds, which x-problems of ProblemKind lists.
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
        /// The most that is allowed: channels, bytes, values or webhooks, as detail says.
        public var limit: Int?
        /// The app's channels at Apple in this environment.
        public var used: Int?
        /// Places held for channels that are being created.
        public var reserved: Int?
        /// The bytes that the message to APNs would have.
        public var size: Int?
        /// How many channels of the app remain.
        public var channels: Int?
        /// The newest sequence of this installation, or of the states of this event, that the server knows.
        public var sequence: Int?
        /// The last content of the event, with include=contentState.
        public var contentState: RawJSON?
        /// aps.timestamp of the message with this content, in seconds since 1970.
        public var timestamp: Int?
        /// The variants that the event has for the app.
        public var variants: [String]?
        /// The server's ID of the channel.
        public var id: String?
        /// The state of a channel, as the server knows it.
        public var state: ChannelState?

        /// Members that are `nil` are left out.
        public init(
            type: String, title: String, status: Int, detail: String, requestId: String? = nil,
            errors: [FieldError]? = nil, apns: APNsRefusal? = nil, limit: Int? = nil, used: Int? = nil,
            reserved: Int? = nil, size: Int? = nil, channels: Int? = nil, sequence: Int? = nil,
            contentState: RawJSON? = nil, timestamp: Int? = nil, variants: [String]? = nil, id: String? = nil,
            state: ChannelState? = nil
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
            self.contentState = contentState
            self.timestamp = timestamp
            self.variants = variants
            self.id = id
            self.state = state
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
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
            contentState = try object.optional("contentState")
            timestamp = try object.optional("timestamp")
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
            if let contentState { object.member("contentState", contentState) }
            if let timestamp { object.member("timestamp", timestamp) }
            if let variants { object.member("variants", variants) }
            if let id { object.member("id", id) }
            if let state { object.member("state", state.rawValue) }
        }
    }

    /// One place in the request that is wrong.
    public struct FieldError: Sendable, Hashable, Codable, ContractObject {
        /// A JSON Pointer into the body (RFC 6901), or the name of a parameter or header.
        public var pointer: String
        /// What was expected there.
        public var detail: String

        /// Members that are `nil` are left out.
        public init(pointer: String, detail: String) {
            self.pointer = pointer
            self.detail = detail
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
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

    /// What APNs answered when it refused a call.
    public struct APNsRefusal: Sendable, Hashable, Codable, ContractObject {
        /// The HTTP status of APNs.
        public var status: Int
        /// Apple's reason, for example TooManyRequests.
        public var reason: String
        /// APNs' ID of the request, for Apple's support.
        public var requestId: String?

        /// Members that are `nil` are left out.
        public init(status: Int, reason: String, requestId: String? = nil) {
            self.status = status
            self.reason = reason
            self.requestId = requestId
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
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
