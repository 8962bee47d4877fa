package import GrandstandContract

// A behaviour of APNs that differs from its documentation. It is stored per app and environment until an answer of APNs
// says otherwise.

extension Contract.QuirkName {
    /// The allowed values. The documented behaviour comes first.
    package var values: [Contract.QuirkValue] {
        switch self {
        // Which spelling of the bundle ID the management API accepts (docs/internals/apns.md 7).
        case .managementPath: [.registered, .lowercased]
        // Whether the App ID has the Broadcast capability: `off` after a `BroadcastFeatureNotEnabled`
        // (docs/internals/apns.md C2).
        case .broadcastFeature: [.on, .off]
        case .unknown: []
        }
    }

    /// The documented behaviour. It is the default until another behaviour is observed.
    package var documented: Contract.QuirkValue? { values.first }
}
