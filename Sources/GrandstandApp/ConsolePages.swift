internal import APNsClient
internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandHTTP
internal import GrandstandStore
internal import Hummingbird

extension MountedPages {
    /// The console's pages. They use the API's keys, and their requests are counted with the API's.
    static func console(_ console: Console) -> MountedPages {
        let responder = console.responder()
        return MountedPages(path: Console.path) { request, context, door in
            let source = ConsoleSource(
                logger: context.log, requestID: context.requestID, endpointPath: context.coreContext.endpointPath,
                door: ConsoleDoor(door))
            return try await responder.respond(to: request, context: ConsoleContext(source: source))
        }
    }
}

extension ConsoleDoor {
    fileprivate init(_ door: PageAccess) {
        self.init(
            identify: { try await door.identify($0) }, resume: { try door.resume($0) },
            refusal: { door.refusal($0) },
            once: { name, signedIn, recover, work in
                try await door.once(
                    name, of: signedIn.key.id, secret: signedIn.secret, recover: recover, work)
            },
            answered: { name, past in try await door.answered(name, of: past.key, secret: past.secret) })
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
