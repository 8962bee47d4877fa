internal import APNsWire

/// How APNs behaves where its documentation, observation and inference differ, or where it says nothing: one value per
/// quirk. The defaults are the behaviour seen live; where it was not observed, the stricter reading.
///
/// `table` names them for the command line and the control API, each with its source.
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

    /// All as seen live.
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
        /// Taken for 0.
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
    /// The reason as it is spelled on the wire: canonical, but where a quirk says otherwise.
    func spelling(of reason: APNsReason) -> String {
        switch reason {
        case .broadcastFeatureNotEnabled: capabilityOff.rawValue
        case .serviceUnavailable: unavailableSpelling.rawValue
        case .badEnvironmentKeyInToken: environmentKeySpelling.rawValue
        default: reason.rawValue
        }
    }
}
