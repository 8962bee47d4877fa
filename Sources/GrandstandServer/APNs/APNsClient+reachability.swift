internal import APNsWire
internal import Grandstand
internal import GrandstandContract

extension APNsClient {
    /// The reachability of APNs in an environment, judged by the connections so far. Nothing is sent to find out.
    ///
    /// If one host is unreachable, the result is `unreachable`, even if other hosts are reachable. Otherwise, if APNs
    /// refuses the provider tokens of a key, the result is `refused`. `notKnown`: no request has needed a connection yet,
    /// or the last connection ended normally.
    func reachability(of environment: APNsEnvironment) -> Contract.APNsState {
        let endpoints = [settings.endpoints.send[environment], settings.endpoints.manage[environment]].compactMap(
            \.self)
        let states = pools(of: endpoints).map(\.reachability)
        if let unreachable = states.first(where: { $0.state == .unreachable }) { return unreachable }
        let refused = standings.ownOfLate().filter { $0.key.environment == environment }
        if let first = refused.min(by: { $0.value.since < $1.value.since }) {
            return .init(state: .refused, reason: first.value.finding(of: first.key.credentials))
        }
        return states.first { $0.state == .reachable } ?? .init(state: .notKnown)
    }
}
