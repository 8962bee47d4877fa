internal import APNsWire
internal import Grandstand
internal import HTTP2

/// Whether APNs is reachable, judged by the connections so far. Nothing is sent to find out.
enum APNsReachability: Sendable, Hashable {
    /// No request has needed a connection yet, or the last connection ended normally.
    case unknown
    /// A connection is open.
    case reachable
    /// There is or was a connection, but APNs refuses the provider tokens of this key.
    case refused(Credentials, KeyRefusal)
    /// The last attempt failed, or APNs stopped answering.
    case unreachable(reason: String)
}

extension APNsClient {
    /// The reachability of APNs in an environment. If one host is unreachable, the result is `unreachable`, even if
    /// other hosts are reachable. Otherwise, if APNs refuses a key, the result is `refused`.
    func reachability(of environment: APNsEnvironment) -> APNsReachability {
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
