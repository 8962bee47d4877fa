internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Hummingbird

extension MountedPages {
    /// The console's pages. People sign in with an API key, and the requests of pages count against the rate limit of
    /// this key, like requests to the API.
    static func console(_ console: Console) -> MountedPages {
        let responder = console.responder()
        return MountedPages(path: Console.path) { request, context, access in
            let source = ConsoleSource(
                logger: context.log, requestID: context.requestID, endpointPath: context.coreContext.endpointPath,
                access: ConsoleAccess(access))
            return try await responder.respond(to: request, context: ConsoleContext(source: source))
        }
    }
}

extension ConsoleAccess {
    fileprivate init(_ access: PageAccess) {
        self.init(
            identify: { try await access.identify($0) }, countRequest: { try access.countRequest(of: $0) },
            refusal: { access.refusal($0) }, perform: { try await access.perform($0, as: $1) })
    }
}

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
