package import APNsWire
package import FoundationEssentials

/// Identifies one copy of an app on a phone by its app, its environment and a UUID that the app generated.
package struct InstallationID: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    package var id: UUID

    package init(bundleID: BundleID, environment: APNsEnvironment, id: UUID) {
        self.bundleID = bundleID
        self.environment = environment
        self.id = id
    }
}

/// The whole state of an installation as its app reports it, with checked versions, tokens and topics and without the
/// order of lists, so that the register can compare it. Reporting it again changes nothing.
package struct InstallationState: Sendable, Hashable {
    /// Rises with every change, because a phone's requests may arrive out of order. `nil`: the app sends no sequence.
    package var sequence: Int?
    package var systemVersion: SystemVersion
    package var appVersion: String?
    /// BCP 47, as the app wrote it.
    package var locale: String?
    /// The variant that the installation wants, for events that have it; `nil`: its locale chooses the variant
    /// (`VariantChoice`).
    package var variant: Variant?
    /// An IANA name, as the app wrote it.
    package var timeZone: String?
    package var liveActivitiesEnabled: Bool
    package var frequentPushesEnabled: Bool
    /// The start tokens by type of attributes.
    package var startTokens: [String: DeviceToken]
    package var topics: Set<Topic>

    package init(
        sequence: Int? = nil, systemVersion: SystemVersion, appVersion: String? = nil, locale: String? = nil,
        variant: Variant? = nil, timeZone: String? = nil, liveActivitiesEnabled: Bool = true,
        frequentPushesEnabled: Bool = true,
        startTokens: [String: DeviceToken] = [:], topics: Set<Topic> = []
    ) {
        self.sequence = sequence
        self.systemVersion = systemVersion
        self.appVersion = appVersion
        self.locale = locale
        self.variant = variant
        self.timeZone = timeZone
        self.liveActivitiesEnabled = liveActivitiesEnabled
        self.frequentPushesEnabled = frequentPushesEnabled
        self.startTokens = startTokens
        self.topics = topics
    }

    /// Whether a push can start activities on this installation, if it has a start token for their type.
    package var takesStarts: Bool { liveActivitiesEnabled && systemVersion >= .firstWithStarts }
}
