/// Why APNs refused a request. `allKnown` has every known reason.
///
/// APNs may send new reasons at any time, so this type wraps a text. Known reasons are static members with their status
/// and their meaning. An unknown reason is judged by its status.
package struct APNsReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The reason in its canonical spelling, which decisions and stored rows use. An unknown reason is exactly as
    /// received.
    package let rawValue: String
    /// The reason as APNs spelled it: for people, the audit log and logs.
    package let spelling: String
    /// The documented status; `nil` for an unknown reason.
    package let status: Int?
    private let meaning: Meaning?

    /// Maps other observed spellings to the canonical one (`Service Unavailable`, `FeatureNotEnabled`;
    /// docs/internals/apns.md C2, C12).
    package init(rawValue: String) {
        let compact = rawValue.filter { $0 != " " }
        let known = Self.byName[Self.aliases[compact] ?? compact]
        self.rawValue = known?.rawValue ?? rawValue
        spelling = rawValue
        status = known?.status
        meaning = known?.meaning
    }

    private init(_ name: String, _ status: Int, _ meaning: Meaning) {
        rawValue = name
        spelling = name
        self.status = status
        self.meaning = meaning
    }

    package var description: String { spelling }

    /// Compares the canonical spellings.
    package static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// The class of a refusal. It decides what to do next.
    package enum Meaning: Sendable, Hashable {
        /// The request is malformed. Repeating it cannot help.
        case badRequest
        /// The channel or the device token does not exist, no longer exists, or belongs to the other environment.
        case targetGone
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

    /// Whether the provider token itself is refused. Then all other requests with this token are refused, too.
    package var concernsProviderToken: Bool { Self.aboutProviderTokens.contains(self) }

    private static let aboutProviderTokens: Set<APNsReason> = [
        badEnvironmentKeyInToken, expiredProviderToken, invalidProviderToken, missingProviderToken,
        tooManyProviderTokenUpdates, unrelatedKeyIdInToken,
    ]

    /// The meaning of this reason in an answer with this status.
    package func meaning(status: Int) -> Meaning {
        if let meaning { return meaning }
        return switch status {
        case 410: .targetGone
        case 401, 403: .credentials
        case 429: .throttled
        case 500...: .unavailable
        default: .badRequest
        }
    }
}

extension APNsReason {
    package static let badChannelId = Self("BadChannelId", 400, .targetGone)
    package static let badCollapseId = Self("BadCollapseId", 400, .badRequest)
    package static let badDeviceToken = Self("BadDeviceToken", 400, .badRequest)
    package static let badExpirationDate = Self("BadExpirationDate", 400, .badRequest)
    package static let badMessageId = Self("BadMessageId", 400, .badRequest)
    package static let badPriority = Self("BadPriority", 400, .badRequest)
    package static let badRequestParams = Self("BadRequestParams", 400, .badRequest)
    package static let badRequestPayload = Self("BadRequestPayload", 400, .badRequest)
    package static let badTopic = Self("BadTopic", 400, .configuration)
    package static let broadcastFeatureNotEnabled = Self("BroadcastFeatureNotEnabled", 400, .configuration)
    package static let cannotCreateChannelConfig = Self("CannotCreateChannelConfig", 400, .quota)
    package static let channelNotRegistered = Self("ChannelNotRegistered", 400, .targetGone)
    package static let deviceTokenNotForTopic = Self("DeviceTokenNotForTopic", 400, .badRequest)
    package static let duplicateHeaders = Self("DuplicateHeaders", 400, .badRequest)
    package static let idleTimeout = Self("IdleTimeout", 400, .unavailable)
    package static let invalidPushType = Self("InvalidPushType", 400, .badRequest)
    package static let missingChannelId = Self("MissingChannelId", 400, .badRequest)
    package static let missingChannelQueueSize = Self("MissingChannelQueueSize", 400, .badRequest)
    package static let missingDeviceToken = Self("MissingDeviceToken", 400, .badRequest)
    package static let missingPushType = Self("MissingPushType", 400, .badRequest)
    package static let missingTopic = Self("MissingTopic", 400, .badRequest)
    package static let payloadEmpty = Self("PayloadEmpty", 400, .badRequest)
    package static let topicDisallowed = Self("TopicDisallowed", 400, .configuration)
    package static let badCertificate = Self("BadCertificate", 403, .credentials)
    package static let badCertificateEnvironment = Self("BadCertificateEnvironment", 403, .credentials)
    package static let badEnvironmentKeyInToken = Self("BadEnvironmentKeyInToken", 403, .credentials)
    package static let expiredProviderToken = Self("ExpiredProviderToken", 403, .credentials)
    package static let forbidden = Self("Forbidden", 403, .credentials)
    package static let invalidProviderToken = Self("InvalidProviderToken", 403, .credentials)
    package static let missingProviderToken = Self("MissingProviderToken", 403, .credentials)
    package static let topicMismatch = Self("TopicMismatch", 403, .configuration)
    package static let unrelatedKeyIdInToken = Self("UnrelatedKeyIdInToken", 403, .credentials)
    package static let badPath = Self("BadPath", 404, .badRequest)
    package static let methodNotAllowed = Self("MethodNotAllowed", 405, .badRequest)
    package static let expiredToken = Self("ExpiredToken", 410, .targetGone)
    package static let unregistered = Self("Unregistered", 410, .targetGone)
    package static let payloadTooLarge = Self("PayloadTooLarge", 413, .badRequest)
    package static let tooManyProviderTokenUpdates = Self("TooManyProviderTokenUpdates", 429, .credentials)
    package static let tooManyRequests = Self("TooManyRequests", 429, .throttled)
    package static let internalServerError = Self("InternalServerError", 500, .unavailable)
    package static let serviceUnavailable = Self("ServiceUnavailable", 503, .unavailable)
    package static let shutdown = Self("Shutdown", 503, .unavailable)

    /// Every known reason: of the management and broadcast paths (docs/internals/apns.md 2.5), and of device pushes
    /// (3.3).
    package static let allKnown = [
        badChannelId, badCollapseId, badDeviceToken, badExpirationDate, badMessageId,
        badPriority, badRequestParams, badRequestPayload, badTopic,
        broadcastFeatureNotEnabled, cannotCreateChannelConfig, channelNotRegistered,
        deviceTokenNotForTopic, duplicateHeaders, idleTimeout, invalidPushType,
        missingChannelId, missingChannelQueueSize, missingDeviceToken, missingPushType,
        missingTopic, payloadEmpty, topicDisallowed, badCertificate,
        badCertificateEnvironment, badEnvironmentKeyInToken, expiredProviderToken,
        forbidden, invalidProviderToken, missingProviderToken, topicMismatch,
        unrelatedKeyIdInToken, badPath, methodNotAllowed, expiredToken, unregistered,
        payloadTooLarge, tooManyProviderTokenUpdates, tooManyRequests, internalServerError,
        serviceUnavailable, shutdown,
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: allKnown.map { ($0.rawValue, $0) })

    /// Other spellings of known reasons.
    private static let aliases = [
        "FeatureNotEnabled": "BroadcastFeatureNotEnabled",
        "BadEnvironmentKeyIdInToken": "BadEnvironmentKeyInToken",
    ]
}
