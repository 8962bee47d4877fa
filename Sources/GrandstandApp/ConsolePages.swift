internal import APNsClient
internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandAPI
internal import GrandstandConsole
internal import GrandstandStore
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension MountedPages {
    /// The console, let in by the API's keys, counted with its requests, and acting through its routes.
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
    fileprivate init(_ door: PageDoor) {
        self.init(
            identify: { try await door.identify($0) }, resume: { try door.resume($0) },
            refusal: { door.refusal($0) },
            call: { call, signedIn in
                let session = PageSession(key: signedIn.key, secret: signedIn.secret)
                return APIAnswer(try await door.call(Request(call), in: session))
            },
            kept: { call, past in
                APIAnswer(try await door.kept(Request(call), of: past.key, secret: past.secret))
            })
    }
}

extension APIAnswer {
    fileprivate init(_ answer: (head: Response, body: [UInt8])) {
        let status = answer.head.status.code
        self.init(
            status: status, body: answer.body, etag: answer.head.headers[.eTag],
            problem: (200..<300).contains(status) ? nil : APIProblem(status: status, body: answer.body))
    }
}

extension Request {
    fileprivate init(_ call: APICall) {
        var fields: HTTPFields = [:]
        if let body = call.body {
            fields[.contentType] = call.contentType
            fields[.contentLength] = String(body.count)
        }
        fields[.ifMatch] = call.ifMatch
        fields[.ifNoneMatch] = call.ifNoneMatch
        fields[.accept] = call.accept
        if let key = call.idempotencyKey, let name = HTTPField.Name("Idempotency-Key") { fields[name] = key }
        self.init(
            head: HTTPRequest(
                method: HTTPRequest.Method(call.method) ?? .get, scheme: nil, authority: nil, path: call.path,
                headerFields: fields),
            body: RequestBody(buffer: ByteBuffer(bytes: call.body ?? [])))
    }
}

extension ConsoleActivity {
    /// - Parameter gateway: tells how APNs was reached by this process.
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
