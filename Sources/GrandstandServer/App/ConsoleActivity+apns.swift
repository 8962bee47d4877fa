internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

extension ConsoleActivity {
    /// - Parameter gateway: shows how this process reached APNs recently.
    init(_ overview: PostgresOverview, _ gateway: APNsClient, within reach: AppReach, now: Date) async throws {
        self.init(
            messages: try await overview.messages(within: reach, now: now),
            oldestWaiting: try await overview.oldestWaiting(within: reach, now: now),
            apple: APNsEnvironment.allCases.map { environment in
                switch gateway.reachability(of: environment) {
                case .unknown:
                    Apple(environment: environment, word: "not asked yet", detail: nil, isFine: nil)
                case .reachable: Apple(environment: environment, word: "reachable", detail: nil, isFine: true)
                case .refused(let credentials, let refusal):
                    Apple(
                        environment: environment, word: "refuses a key", detail: refusal.finding(of: credentials),
                        isFine: false)
                case .unreachable(let reason):
                    Apple(environment: environment, word: "unreachable", detail: reason, isFine: false)
                }
            })
    }
}
