internal import APNsWire
internal import Grandstand

extension Figure {
    /// How this process reached APNs recently, in each environment.
    static func apple(_ gateway: APNsClient) -> [Figure] {
        APNsEnvironment.allCases.map { environment in
            let apple = gateway.reachability(of: environment)
            let (value, level) =
                switch apple.state {
                case .notKnown: ("not asked yet", "")
                case .reachable: ("reachable", "ok")
                case .refused: ("refuses a key", "critical")
                case .unreachable, .unknown: ("unreachable", "critical")
                }
            return Figure(
                label: "Apple, \(environment.rawValue)", value: value, detail: apple.reason ?? "", level: level)
        }
    }
}
