package import APNsWire
package import FoundationEssentials

/// An observed departure of APNs from its documentation, remembered per app and environment until an answer of APNs, or
/// an admin, says otherwise.
package struct Quirk: Sendable, Hashable {
    package enum Name: String, Sendable, Hashable, CaseIterable {
        /// How the management API wants the bundle ID: `registered` or `lowercased` (docs/internals/apns.md section 7).
        case managementPath = "management-path"
        /// Whether the App ID has the Broadcast capability: `on`, or `off` after a `BroadcastFeatureNotEnabled` (C2).
        case broadcastFeature = "broadcast-feature"

        /// Its values, the documented behaviour first.
        package var values: [String] {
            switch self {
            case .managementPath: APNsAddress.ManagementPath.allCases.map(\.rawValue)
            case .broadcastFeature: BroadcastFeature.allCases.map(\.rawValue)
            }
        }

        /// The documented behaviour: what holds until something else was seen.
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
    /// The observation, in words.
    package var evidence: String

    package init(environment: APNsEnvironment, name: Name, value: String, learnedAt: Date, evidence: String) {
        self.environment = environment
        self.name = name
        self.value = value
        self.learnedAt = learnedAt
        self.evidence = evidence
    }

    /// Whether this says that APNs does something else than documented.
    package var isDeparture: Bool { value != name.documented }
}
