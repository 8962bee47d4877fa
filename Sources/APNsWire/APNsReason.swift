/// Why APNs refused a request. `table` has every known reason with its status and its meaning.
///
/// APNs may send new reasons at any time, so this type wraps a text. Known reasons are static members and rows of
/// `table`. An unknown reason is judged by its status.
package struct APNsReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The reason in its canonical spelling, which decisions and stored rows use. An unknown reason is exactly as
    /// received.
    package let rawValue: String
    /// The reason as APNs spelled it: for people, the audit log and logs.
    package let text: String

    /// Maps other observed spellings to the canonical one (`Service Unavailable`, `FeatureNotEnabled`;
    /// docs/internals/apns.md C2, C12).
    package init(rawValue: String) {
        let compact = rawValue.filter { $0 != " " }
        self.rawValue = Self.aliases[compact] ?? (Self.byName[compact] == nil ? rawValue : compact)
        text = rawValue
    }

    private init(canonical: String) {
        rawValue = canonical
        text = canonical
    }

    package var description: String { text }

    /// Compares the canonical spellings.
    package static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// The class of a refusal. It decides what to do next.
    package enum Meaning: Sendable, Hashable {
        /// The request is malformed. Repeating it cannot help.
        case badRequest
        /// The channel or the device token does not exist, no longer exists, or belongs to the other environment.
        case channelGone
        /// The app's registration at Apple does not allow the request: capability, topic or path.
        case configuration
        /// The provider token or its key is refused.
        case credentials
        /// The app has as many channels as Apple allows.
        case quota
        /// Too many requests. Repeat more slowly.
        case throttled
        /// A fault of APNs. Repeat with growing waits.
        case unavailable
    }

    /// A reason, its status, and its meaning.
    package struct Row: Sendable {
        package let reason: APNsReason
        package let status: Int
        package let meaning: Meaning
    }

    /// Whether the provider token itself is refused. Then all other requests with this token are refused, too.
    package var concernsProviderToken: Bool { Self.aboutProviderTokens.contains(self) }

    private static let aboutProviderTokens: Set<APNsReason> = [
        badEnvironmentKeyInToken, expiredProviderToken, invalidProviderToken, missingProviderToken,
        tooManyProviderTokenUpdates, unrelatedKeyIdInToken,
    ]

    /// The documented status; `nil` for an unknown reason.
    package var status: Int? { Self.byName[rawValue]?.status }

    /// The meaning of this reason in an answer with this status.
    package func meaning(status: Int) -> Meaning {
        if let row = Self.byName[rawValue] { return row.meaning }
        return switch status {
        case 410: .channelGone
        case 401, 403: .credentials
        case 429: .throttled
        case 500...: .unavailable
        default: .badRequest
        }
    }
}

extension APNsReason {
    package static let badCertificate = Self(canonical: "BadCertificate")
    package static let badCertificateEnvironment = Self(canonical: "BadCertificateEnvironment")
    package static let badChannelId = Self(canonical: "BadChannelId")
    package static let badCollapseId = Self(canonical: "BadCollapseId")
    package static let badDeviceToken = Self(canonical: "BadDeviceToken")
    package static let badEnvironmentKeyInToken = Self(canonical: "BadEnvironmentKeyInToken")
    package static let badExpirationDate = Self(canonical: "BadExpirationDate")
    package static let badMessageId = Self(canonical: "BadMessageId")
    package static let badPath = Self(canonical: "BadPath")
    package static let badPriority = Self(canonical: "BadPriority")
    package static let badRequestParams = Self(canonical: "BadRequestParams")
    package static let badRequestPayload = Self(canonical: "BadRequestPayload")
    package static let badTopic = Self(canonical: "BadTopic")
    package static let broadcastFeatureNotEnabled = Self(canonical: "BroadcastFeatureNotEnabled")
    package static let cannotCreateChannelConfig = Self(canonical: "CannotCreateChannelConfig")
    package static let channelNotRegistered = Self(canonical: "ChannelNotRegistered")
    package static let deviceTokenNotForTopic = Self(canonical: "DeviceTokenNotForTopic")
    package static let duplicateHeaders = Self(canonical: "DuplicateHeaders")
    package static let expiredProviderToken = Self(canonical: "ExpiredProviderToken")
    package static let expiredToken = Self(canonical: "ExpiredToken")
    package static let forbidden = Self(canonical: "Forbidden")
    package static let idleTimeout = Self(canonical: "IdleTimeout")
    package static let internalServerError = Self(canonical: "InternalServerError")
    package static let invalidProviderToken = Self(canonical: "InvalidProviderToken")
    package static let invalidPushType = Self(canonical: "InvalidPushType")
    package static let methodNotAllowed = Self(canonical: "MethodNotAllowed")
    package static let missingChannelId = Self(canonical: "MissingChannelId")
    package static let missingChannelQueueSize = Self(canonical: "MissingChannelQueueSize")
    package static let missingDeviceToken = Self(canonical: "MissingDeviceToken")
    package static let missingProviderToken = Self(canonical: "MissingProviderToken")
    package static let missingPushType = Self(canonical: "MissingPushType")
    package static let missingTopic = Self(canonical: "MissingTopic")
    package static let payloadEmpty = Self(canonical: "PayloadEmpty")
    package static let payloadTooLarge = Self(canonical: "PayloadTooLarge")
    package static let serviceUnavailable = Self(canonical: "ServiceUnavailable")
    package static let shutdown = Self(canonical: "Shutdown")
    package static let tooManyProviderTokenUpdates = Self(canonical: "TooManyProviderTokenUpdates")
    package static let tooManyRequests = Self(canonical: "TooManyRequests")
    package static let topicDisallowed = Self(canonical: "TopicDisallowed")
    package static let topicMismatch = Self(canonical: "TopicMismatch")
    package static let unregistered = Self(canonical: "Unregistered")
    package static let unrelatedKeyIdInToken = Self(canonical: "UnrelatedKeyIdInToken")

    /// Every known reason: of the management and broadcast paths (docs/internals/apns.md 2.5), and of device pushes
    /// (3.3).
    package static let table: [Row] = [
        Row(reason: badChannelId, status: 400, meaning: .channelGone),
        Row(reason: badCollapseId, status: 400, meaning: .badRequest),
        Row(reason: badDeviceToken, status: 400, meaning: .badRequest),
        Row(reason: badExpirationDate, status: 400, meaning: .badRequest),
        Row(reason: badMessageId, status: 400, meaning: .badRequest),
        Row(reason: badPriority, status: 400, meaning: .badRequest),
        Row(reason: badRequestParams, status: 400, meaning: .badRequest),
        Row(reason: badRequestPayload, status: 400, meaning: .badRequest),
        Row(reason: badTopic, status: 400, meaning: .configuration),
        Row(reason: broadcastFeatureNotEnabled, status: 400, meaning: .configuration),
        Row(reason: cannotCreateChannelConfig, status: 400, meaning: .quota),
        Row(reason: channelNotRegistered, status: 400, meaning: .channelGone),
        Row(reason: deviceTokenNotForTopic, status: 400, meaning: .badRequest),
        Row(reason: duplicateHeaders, status: 400, meaning: .badRequest),
        Row(reason: idleTimeout, status: 400, meaning: .unavailable),
        Row(reason: invalidPushType, status: 400, meaning: .badRequest),
        Row(reason: missingChannelId, status: 400, meaning: .badRequest),
        Row(reason: missingChannelQueueSize, status: 400, meaning: .badRequest),
        Row(reason: missingDeviceToken, status: 400, meaning: .badRequest),
        Row(reason: missingPushType, status: 400, meaning: .badRequest),
        Row(reason: missingTopic, status: 400, meaning: .badRequest),
        Row(reason: payloadEmpty, status: 400, meaning: .badRequest),
        Row(reason: topicDisallowed, status: 400, meaning: .configuration),
        Row(reason: badCertificate, status: 403, meaning: .credentials),
        Row(reason: badCertificateEnvironment, status: 403, meaning: .credentials),
        Row(reason: badEnvironmentKeyInToken, status: 403, meaning: .credentials),
        Row(reason: expiredProviderToken, status: 403, meaning: .credentials),
        Row(reason: forbidden, status: 403, meaning: .credentials),
        Row(reason: invalidProviderToken, status: 403, meaning: .credentials),
        Row(reason: missingProviderToken, status: 403, meaning: .credentials),
        Row(reason: topicMismatch, status: 403, meaning: .configuration),
        Row(reason: unrelatedKeyIdInToken, status: 403, meaning: .credentials),
        Row(reason: badPath, status: 404, meaning: .badRequest),
        Row(reason: methodNotAllowed, status: 405, meaning: .badRequest),
        Row(reason: expiredToken, status: 410, meaning: .channelGone),
        Row(reason: unregistered, status: 410, meaning: .channelGone),
        Row(reason: payloadTooLarge, status: 413, meaning: .badRequest),
        Row(reason: tooManyProviderTokenUpdates, status: 429, meaning: .credentials),
        Row(reason: tooManyRequests, status: 429, meaning: .throttled),
        Row(reason: internalServerError, status: 500, meaning: .unavailable),
        Row(reason: serviceUnavailable, status: 503, meaning: .unavailable),
        Row(reason: shutdown, status: 503, meaning: .unavailable),
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: table.map { ($0.reason.rawValue, $0) })

    /// Other spellings of reasons in the table.
    private static let aliases = [
        "FeatureNotEnabled": "BroadcastFeatureNotEnabled",
        "BadEnvironmentKeyIdInToken": "BadEnvironmentKeyInToken",
    ]
}
