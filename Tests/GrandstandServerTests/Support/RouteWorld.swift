internal import ContractKit
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOEmbedded
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// Every route of a server behind its router, its access checks and its middleware, without a socket. In a suite with
/// the trait `database`, the stores use the test's database.
struct RouteWorld {
    /// The database as the test fills and reads it, at the time of the routes. Without the trait, it cannot be reached.
    let rows: StoreWorld
    var gateway = ScriptedGateway(key: .missing)
    /// The rate limits. They count the requests of all calls of this world.
    var limits = RateLimits()
    /// Routes of the test, in addition to the API's.
    var others: [Route] = []
    private var responder: RouterResponder<APIContext>?

    /// A world whose ports do not change any more. Its router is made once, and not for each request.
    func kept() throws -> RouteWorld {
        var world = self
        world.responder = try router().buildResponder()
        return world
    }

    /// - Parameter others: routes of the test, in addition to the API's.
    init(at now: Date = Self.now, others: [Route] = []) {
        rows = StoreWorld(DatabaseTrait.current ?? .away, at: now)
        self.others = others
    }

    var database: Database { Database(rows.pool) }

    static let now = Date(timeIntervalSince1970: 1_795_293_900)

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
        for scope in Contract.Scope.allCases {
            keys["gs_\(scope.rawValue)"] = key([scope], of: scope == .device ? stadium : .all)
        }
        return keys
    }()

    private static func key(_ scopes: Set<Contract.Scope>, of reach: AppReach = .all) -> APIKey {
        APIKey(id: UUID(), name: "test", scopes: scopes, reach: reach)
    }

    // A request's context requires a channel. This one is never opened, so it need not be closed.
    private static let channel = NIOAsyncTestingChannel()

    /// The context of a new request.
    static var context: APIContext {
        APIContext(source: ApplicationRequestContextSource(channel: channel, logger: LoopSample.logger))
    }

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let body: [UInt8]

        init(_ response: Response) async throws {
            (status, headers) = (response.status.code, response.headers)
            body = try await response.bytes()
        }

        var location: String? { headers[.location] }
        var cookie: String? { headers[.setCookie] }
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
        _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:],
        as secret: String? = "gs_admin", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        var fields: HTTPFields = [:]
        if let secret { fields[.authorization] = "Bearer \(secret)" }
        if let body {
            fields[.contentType] = "application/json"
            fields[.contentLength] = String(body.utf8.count)
        }
        for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
        let head = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: nil, authority: nil, path: path, headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body ?? "")))
        let response = try await (responder ?? router().buildResponder()).respond(to: request, context: Self.context)
        let answer = try await Answer(response)
        #expect(
            OpenAPIDocument.faults(of: answer, to: method, path) == [], "\(method) \(path): \(answer.text)",
            sourceLocation: sourceLocation)
        return answer
    }

    private func router() throws -> Router<APIContext> {
        let api = try api { Self.now }
        return api.router(api.routes + api.healthRoutes() + others)
    }

    /// The API as a server makes it.
    func api(now: @escaping @Sendable () -> Date) throws -> API {
        // No test waits for this limit, and a busy machine may not meet the default.
        let configuration = try Configuration(environment: ["GRANDSTAND_DATABASE_WAIT": "60"])
        let stores = Stores(database, configuration)
        let calls = ChannelCalls(
            gateway: gateway, channels: stores.channels, worker: LoopSample.worker(lease: 10, now: now))
        return API(
            configuration: configuration, stores: stores, keys: .holding(Self.keys, database, now: now),
            limits: limits,
            lookups: LookupReplica(store: LookupStore(database: database), settings: .patient, now: now),
            gateway: gateway,
            channelOperations: calls,
            readiness: {
                .init(
                    status: .ready, database: .ok,
                    apns: .init(development: .init(state: .notKnown), production: .init(state: .notKnown)))
            }, metrics: ServerMetrics(), now: now, logger: LoopSample.logger)
    }
}

extension LookupReplica.Settings {
    /// For requests that wait until a busy machine has answered.
    static let patient = Self(patience: .seconds(60))
}

extension RouteWorld {
    /// Adds the channel `Sample.id` of the app `Sample.stadium`, which must be registered.
    func putChannel(_ state: Contract.ChannelState) async throws {
        // APNs refused the creation of a channel without an ID.
        let channelID = state == .active ? "abc==" : nil
        try await database.query(
            """
            insert into channels (id, bundle_id, environment, channel_id, storage_policy, state, label, created_at, changed_at)
            values (\(Sample.id), 'com.example.Stadium', 'production', \(channelID), 'noMessageStored',
                \(state.rawValue)::text::channel_state, 'gate 7', \(Self.now), \(Self.now))
            """)
    }
}

extension KeyStore {
    /// Keys in memory, by their secrets.
    static func holding(
        _ bySecret: [String: APIKey], _ database: Database = TestDatabase.away.database,
        now: @escaping @Sendable () -> Date
    ) -> KeyStore {
        let keys = KeyStore(database: database, now: now)
        keys.state.withLock { state in
            state.keys = Dictionary(uniqueKeysWithValues: bySecret.map { (SecretHash(of: $0.key), $0.value) })
            state.readAt = now()
        }
        return keys
    }
}

extension TestDatabase {
    /// A database that nobody can reach.
    static let away = TestDatabase(
        pool: PostgresPool(configuration: .stores(connectionString: "host=/nowhere"), logger: LoopSample.logger),
        connectionString: "host=/nowhere")
}
