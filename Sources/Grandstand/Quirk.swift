package import APNsWire
package import FoundationEssentials

/// A behaviour of APNs that differs from its documentation. It is stored per app and environment until an answer of
/// APNs says otherwise.
package struct Quirk: Sendable, Hashable {
    package enum Name: String, Sendable, Hashable, CaseIterable {
        /// Which spelling of the bundle ID the management API accepts: `registered` or `lowercased`
        /// (docs/internals/apns.md 7).
        case managementPath = "management-path"
        /// Whether the App ID has the Broadcast capability: `on`, or `off` after a `BroadcastFeatureNotEnabled`
        /// (docs/internals/apns.md C2).
        case broadcastFeature = "broadcast-feature"

        /// The allowed values. The documented behaviour comes first.
        package var values: [String] {
            switch self {
            case .managementPath: APNsAddress.ManagementPath.allCases.map(\.rawValue)
            case .broadcastFeature: BroadcastFeature.allCases.map(\.rawValue)
            }
        }

        /// The documented behaviour. It is the default until another behaviour is observed.
        package var documented: String { values[0] }
    }

    /// The values of `broadcast-feature`.
    package enum BroadcastFeature: String, Sendable, Hashable, CaseIterable {
        case on
        case off
    }

    package var environment: APNsEnvironment
    package var name: Name
    package var value: String
    package var learnedAt: Date
    /// What was observed, as text.
    package var evidence: String

    package init(environment: APNsEnvironment, name: Name, value: String, learnedAt: Date, evidence: String) {
        self.environment = environment
        self.name = name
        self.value = value
        self.learnedAt = learnedAt
        self.evidence = evidence
    }

    /// Whether the value differs from the documented behaviour.
    package var isDifference: Bool { value != name.documented }
}
