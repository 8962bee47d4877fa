internal import APNsWire

/// The services of Apple's host names. Under its own names, the simulator serves everything. Under one of Apple's
/// names, the simulator serves only the service of that name.
package enum HostService: String, Sendable, Hashable {
    /// All services. The client used none of Apple's host names.
    case all
    /// `api-manage-broadcast…`: channels.
    case management
    /// `api…` and `api-broadcast…`: broadcasts and device pushes (docs/internals/apns.md C1).
    case send

    /// Reads the name a client asked for (SNI).
    ///
    /// - Returns: `nil` if the name is not Apple's.
    static func named(_ serverName: String) -> (service: HostService, environment: APNsEnvironment)? {
        table[serverName.lowercased()]
    }

    func serves(_ operation: Route.Operation) -> Bool {
        switch self {
        case .all: true
        case .management: operation.isManagement
        case .send: !operation.isManagement
        }
    }

    private static let table: [String: (service: HostService, environment: APNsEnvironment)] = [
        "api.sandbox.push.apple.com": (.send, .development),
        "api.push.apple.com": (.send, .production),
        "api-broadcast.sandbox.push.apple.com": (.send, .development),
        "api-broadcast.push.apple.com": (.send, .production),
        "api-manage-broadcast.sandbox.push.apple.com": (.management, .development),
        "api-manage-broadcast.push.apple.com": (.management, .production),
    ]
}
