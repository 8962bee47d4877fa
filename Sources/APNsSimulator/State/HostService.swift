internal import APNsWire

/// The services of Apple's host names. Under its own names, the simulator serves everything. Under one of Apple's
/// names, the simulator serves only the service of that name.
package enum HostService: String, Sendable, Hashable, Encodable {
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
        switch serverName.lowercased() {
        case "api.sandbox.push.apple.com", "api-broadcast.sandbox.push.apple.com": (.send, .development)
        case "api.push.apple.com", "api-broadcast.push.apple.com": (.send, .production)
        case "api-manage-broadcast.sandbox.push.apple.com": (.management, .development)
        case "api-manage-broadcast.push.apple.com": (.management, .production)
        default: nil
        }
    }

    func serves(_ operation: Route.Operation) -> Bool {
        self == .all || operation.isManagement == (self == .management)
    }
}
