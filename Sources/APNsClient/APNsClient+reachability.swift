package import APNsWire
package import Grandstand
internal import HTTP2

/// Whether APNs is reachable, by the connections made so far: no call is made for it.
package enum APNsReachability: Sendable, Hashable {
    /// There was no reason to connect yet, or the last connection ended in good order.
    case unknown
    /// A connection is open.
    case reachable
    /// A connection is open or was, and APNs refuses the provider tokens of this key.
    case refused(Credentials, KeyRefusal)
    /// The last attempt failed, or APNs stopped answering.
    case unreachable(reason: String)
}

extension APNsClient {
    /// How APNs can be reached in an environment; when only some of its hosts, teams or keys can, it cannot.
    package func reachability(of environment: APNsEnvironment) -> APNsReachability {
        let endpoints = [settings.endpoints.send[environment], settings.endpoints.manage[environment]].compactMap(
            \.self)
        var result = APNsReachability.unknown
        for pool in pools(of: endpoints) {
            switch pool.reachability {
            case .unreachable(let reason): return .unreachable(reason: reason)
            case .reachable: result = .reachable
            case .refused, .unknown: break
            }
        }
        let refused = standings.ownOfLate().filter { $0.key.environment == environment }
        guard let first = refused.min(by: { $0.value.since < $1.value.since }) else { return result }
        return .refused(first.key.credentials, first.value)
    }
}

extension ConnectionPool {
    /// The reachability by its connections.
    var reachability: APNsReachability {
        let (hasOne, fault, silence) = glance
        if let silence { return .unreachable(reason: silence) }
        if hasOne { return .reachable }
        return fault.map { .unreachable(reason: $0.message) } ?? .unknown
    }
}
