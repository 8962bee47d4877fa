internal import APNsWire
internal import ContractKit
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOEmbedded
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Every route of a server behind its router, its access checks and its middleware, without a socket. The protocols of
/// Grandstand/Ports are fakes; other stores use a database (`withRoutes`).
struct RouteWorld {
    /// A database that cannot be reached, unless the test sets another one.
    var database = Database.away
    var apps = FakeApps()
    var events = FakeEvents()
    /// The source of lookups. It announces no change, so the lookup cache stays empty.
    var lookups = Silence()
    var starts = FakeStarts()
    var channels = FakeChannels()
    var outbox = FakeOutbox()
    var quirks = FakeQuirks()
    var gateway = FakeGateway()
    var ledger = FakeLedger()
    var reconciliations = FakeReconciliations()
    var webhooks = FakeWebhooks()
    var installations = FakeInstallations()
    var idempotency = FakeIdempotency()
    /// The rate limits. They count the requests of all calls of this world.
    var limits = RateLimits(.init(requests: nil, failures: nil))
    /// Routes of the test, in addition to the API's.
    var others: [Route] = []
    var pages: MountedPages?

    static let now = Date(timeIntervalSince1970: 1_795_293_900)
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The keys by their secrets. `gs_lookup` to `gs_admin` hold one scope each and reach all apps, except `gs_device`:
    /// a device key always belongs to one app, here `Sample.stadium`. `gs_stadium` holds lookup, organise and operate
    /// for this app, `gs_stadium_admin` holds admin for it, and `gs_pair_admin` holds admin for it and `Sample.other`.
    /// `gs_cup` holds organise for this app's events whose keys begin with `cup.`.
    static let keys: [String: APIKey] = {
        let stadium = AppReach.only([Sample.stadium])
        var keys = [
            "gs_stadium": key([.lookup, .organise, .operate], of: stadium),
            "gs_stadium_admin": key([.admin], of: stadium),
            "gs_pair_admin": key([.admin], of: .only([Sample.stadium, Sample.other])),
            "gs_cup": key(
                [.organise], of: AppReach(of: [Sample.stadium], eventKeyPrefix: EventKey(rawValue: "cup."))),
        ]
        for scope in APIKey.Scope.allCases {
            keys["gs_\(scope.rawValue)"] = key([scope], of: scope == .device ? stadium : .all)
        }
        return keys
    }()

    private static func key(_ scopes: Set<APIKey.Scope>, of reach: AppReach = .all) -> APIKey {
        APIKey(
            id: UUID(), name: "test", scopes: scopes, reach: reach, prefix: "gs_", createdAt: now, revokedAt: nil)
    }

    // A request's context requires a channel. This one is never opened, so it need not be closed.
    private static let channel = NIOAsyncTestingChannel()

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:] }
        /// The objects of a list.
        var items: [[String: Any]] { json["items"] as? [[String: Any]] ?? [] }
        /// The last part of a problem's `type`.
        var slug: String? { (json["type"] as? String)?.split(separator: "/").last.map(String.init) }
        /// The `detail` of a problem.
        var detail: String { json["detail"] as? String ?? "" }
        /// The pointers of a problem's `errors`.
        var pointers: [String] {
            (json["errors"] as? [[String: Any]])?.compactMap { $0["pointer"] as? String } ?? []
        }
    }

    /// Sends one request, and checks the answer against the contract. A body is sent as `application/json` unless
    /// `headers` contain another type.
    func callAsFunction(
        _ method: String, _ path: String, _ body: [UInt8]? = nil, headers: [String: String] = [:],
        as secret: String? = "gs_admin", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        var fields: HTTPFields = [:]
        if let secret { fields[.authorization] = "Bearer \(secret)" }
        if let body {
            fields[.contentType] = "application/json"
            fields[.contentLength] = String(body.count)
        }
        for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
        let head = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: nil, authority: nil, path: path, headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body ?? [])))
        let context = APIContext(
            source: ApplicationRequestContextSource(channel: Self.channel, logger: Self.logger))
        let response = try await router.buildResponder().respond(to: request, context: context)
        let answer = Answer(
            status: response.status.code, headers: response.headers, body: try await response.bytes())
        #expect(
            OpenAPIDocument.faults(of: answer, to: method, path) == [], "\(method) \(path): \(answer.text)",
            sourceLocation: sourceLocation)
        return answer
    }

    /// Sends one request with a text as its body, and checks the answer against the contract.
    func callAsFunction(
        _ method: String, _ path: String, _ body: String, headers: [String: String] = [:],
        as secret: String? = "gs_admin", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        try await self(
            method, path, Array(body.utf8), headers: headers, as: secret, sourceLocation: sourceLocation)
    }

    private var router: Router<APIContext> {
        RouteTable(routes: api.table.routes + api.health().routes + others).router(
            authenticator: RequestAuthenticator(
                keys: FakeKeys(Self.keys), uses: KeyUses(logger: Self.logger, record: { _ in }),
                limits: limits, now: { Self.now }, onTrust: { _ in }),
            idempotency: Idempotency(store: idempotency, now: { Self.now }),
            middleware: .init(
                headers: StandingHeaders(isSecure: false), logger: Self.logger, onAnswer: { _, _, _, _ in }),
            pages: pages)
    }

    /// The API as a server makes it.
    var api: API { API(dependencies { Self.now }, pages: pages) }

    func dependencies(now: @escaping @Sendable () -> Date) -> API.Dependencies {
        let management = ManagementCalls(gateway: gateway, quirks: quirks, now: now, logger: Self.logger)
        let calls = ChannelCalls(
            management: management, channels: channels, reconciliations: reconciliations, lease: 10, now: now,
            logger: Self.logger)
        let operations = ChannelOperations(
            management: management, channels: channels, calls: calls, lease: 10, now: now)
        let reconciliation = Reconciliation(
            management: management, channelCalls: calls, store: reconciliations, lease: 10, now: now,
            logger: Self.logger)
        let settings = API.Settings(
            reconciliationLimits: ReconciliationLimits(grace: 600, deleteBudget: 100))
        return API.Dependencies(
            stores: stores, lookups: LookupReplica(source: lookups, now: now, logger: Self.logger),
            access: .init(
                keys: FakeKeys(Self.keys), ledger: ledger, memory: FakeKeys(Self.keys),
                uses: KeyUses(logger: Self.logger, record: { _ in }), idempotency: idempotency, limits: limits,
                isSecure: false, logger: Self.logger, metrics: NoMetrics(), hasOwnOperationsPort: false),
            gateway: gateway, channelOperations: operations, reconciliation: reconciliation,
            readiness: { Readiness(database: true) }, settings: settings, now: now)
    }

    private var stores: Stores {
        var stores = Stores(Databases(database), logger: Self.logger)
        (stores.apps, stores.channels, stores.events, stores.outbox) = (apps, channels, events, outbox)
        (stores.starts, stores.quirks, stores.reconciliations) = (starts, quirks, reconciliations)
        (stores.webhooks, stores.installations) = (webhooks, installations)
        return stores
    }
}

/// Runs a test with the routes on its own database.
func withRoutes(_ body: (inout RouteWorld) async throws -> Void) async throws {
    try await withDatabase {
        var world = RouteWorld(database: $0.database)
        try await body(&world)
    }
}

extension Database {
    /// A database that nobody can reach.
    static let away = Database(
        PostgresPool(configuration: .stores(connectionString: "host=/nowhere"), logger: RouteWorld.logger))
}

/// Counts nothing.
private struct NoMetrics: OperationMetrics {
    func lookups(_ result: LookupResult) -> @Sendable () -> Void { {} }

    func answered(method: String, path: String?, status: Int, time: Duration) {}
    func answers(method: String, path: String, status: Int) -> @Sendable (Duration) -> Void { { _ in } }
    func exposition() -> [UInt8] { [] }
}
