internal import APNsWire

/// The variants of APNs' behaviour, where APNs' documentation, observations and inference differ or say nothing. There
/// is one value for each quirk. The default is the observed behaviour. If no behaviour was observed, the default is the
/// stricter value.
///
/// `table` has, for each quirk, its name for the command line and the control API, and the source of its values.
package struct Quirks: Sendable, Hashable {
    var capitals = CapitalsRule.refused
    var capabilityOff = CapabilityOffReason.broadcastFeatureNotEnabled
    var unknownDeletion = UnknownDeletion.badPath
    var unknownChannel = UnknownChannel.badChannelID
    var missingPolicy = MissingPolicy.missingChannelQueueSize
    var missingExpiration = MissingExpiration.refused
    var expirationWithoutStorage = ExpirationWithoutStorage.zero
    var pastExpiration = PastExpiration.accepted
    var requestIDCapitals = Acceptance.refused
    var unavailableSpelling = UnavailableSpelling.serviceUnavailable
    var environmentKeySpelling = EnvironmentKeySpelling.badEnvironmentKeyInToken
    var tokenUpdates = TokenUpdates.connection
    var refusals = RefusalRule.counted
    var payload = PayloadRule.strict
    var unknownDevice = Acceptance.refused
    var timestampTie = TimestampTie.dropped
    var storedOnSubscribe = Switch.off
    var productionUniqueID = Switch.on

    /// All defaults.
    package init() {}

    enum CapabilityOffReason: String, CaseIterable {
        case broadcastFeatureNotEnabled = "BroadcastFeatureNotEnabled"
        case featureNotEnabled = "FeatureNotEnabled"
    }

    enum UnknownDeletion: String, CaseIterable {
        case badPath = "BadPath"
        case channelNotRegistered = "ChannelNotRegistered"
    }

    enum UnknownChannel: String, CaseIterable {
        case badChannelID = "BadChannelId"
        case channelNotRegistered = "ChannelNotRegistered"
    }

    enum MissingPolicy: String, CaseIterable {
        case missingChannelQueueSize = "MissingChannelQueueSize"
        case badRequestParams = "BadRequestParams"
    }

    enum MissingExpiration: String, CaseIterable {
        case refused = "BadExpirationDate"
        /// A broadcast without `apns-expiration` is accepted, as if the value were 0.
        case accepted
    }

    enum ExpirationWithoutStorage: String, CaseIterable {
        case zero
        case nonzero
        case any
    }

    enum PastExpiration: String, CaseIterable {
        case accepted
        case refused = "BadExpirationDate"
    }

    enum Acceptance: String, CaseIterable {
        case refused
        case accepted
    }

    enum UnavailableSpelling: String, CaseIterable {
        case serviceUnavailable = "ServiceUnavailable"
        case withSpace = "Service Unavailable"
    }

    enum EnvironmentKeySpelling: String, CaseIterable {
        case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
        case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
    }

    enum TokenUpdates: String, CaseIterable {
        case connection
        case key
        case off
    }

    enum RefusalRule: String, CaseIterable {
        case counted
        case ignored
    }

    enum PayloadRule: String, CaseIterable {
        case strict
        case lenient
    }

    enum TimestampTie: String, CaseIterable {
        case dropped
        case applied
    }

    enum Switch: String, CaseIterable {
        case on
        case off
    }
}

extension Quirks {
    /// The spelling of a reason in answers. Quirks may change it.
    func spelling(of reason: APNsReason) -> String {
        switch reason {
        case .broadcastFeatureNotEnabled: capabilityOff.rawValue
        case .serviceUnavailable: unavailableSpelling.rawValue
        case .badEnvironmentKeyInToken: environmentKeySpelling.rawValue
        default: reason.rawValue
        }
    }
}
