// Generated from openapi.yaml by `make contract`. Do not edit.

extension Contract {
    /// The state of a channel, as the server knows it.
    public enum ChannelState: ContractWord {
        /// The server asks Apple to create it. Apple has not answered yet.
        case creating
        /// Apple has issued its ID. Messages are sent to it and lookups answer it.
        case active
        /// No event needs it. It is kept for a while, because devices may still listen to it.
        case retiring
        /// The server asks Apple to delete it.
        case deleting
        /// Apple confirmed the deletion, or did not know the channel. This state is final.
        case deleted
        /// Apple no longer has it, though an event needs it.
        case missing
        /// Apple refused to create it, or there was no place left. The server tries again at nextAttemptAt.
        case failed
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.creating, .active, .retiring, .deleting, .deleted, .missing, .failed]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .creating: "creating"
            case .active: "active"
            case .retiring: "retiring"
            case .deleting: "deleting"
            case .deleted: "deleted"
            case .missing: "missing"
            case .failed: "failed"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// A refusal (RFC 9457). type ends in a ProblemKind, which programs compare; title and detail are for people. The
    /// members after apns come only with some kinds, which x-problems of ProblemKind lists.
    public struct Problem: Codable, Sendable, Hashable {
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
    }

    /// One place in the request that is wrong.
    public struct FieldError: Codable, Sendable, Hashable {
        /// A JSON Pointer into the body (RFC 6901), or the name of a parameter or header.
        public var pointer: String
        /// What was expected there.
        public var detail: String

        /// Members that are `nil` are left out.
        public init(pointer: String, detail: String) {
            self.pointer = pointer
            self.detail = detail
        }
    }

    /// What APNs answered when it refused a call.
    public struct APNsRefusal: Codable, Sendable, Hashable, ContractAnswer {
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
    }
}
