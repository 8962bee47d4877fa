internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandService
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOEmbedded

@testable internal import GrandstandAPI

/// Routes behind the router, the gate and the middleware that a server has, over ports that are functions: no socket and
/// no database.
struct RouteWorld {
    var apps = FakeApps()
    var events = FakeEvents()
    var starts = FakeStarts()
    var channels = FakeChannels()
    var outbox = FakeOutbox()
    var quirks = FakeQuirks()
    var gateway = FakeGateway()
    var ledger = FakeLedger()
    /// Routes of a test's own, beside the API's.
    var others: [Route] = []

    static let now = Date(timeIntervalSince1970: 1_795_293_900)

    /// A key of every scope, `gs_lookup` to `gs_admin`, and of one app `gs_stadium`, which holds all but admin, and
    /// `gs_stadium_admin`.
    static let keys: [String: APIKey] = {
        let stadium = BundleID(rawValue: "com.example.Stadium")
        var keys = [
            "gs_stadium": key([.lookup, .organise, .operate], of: stadium),
            "gs_stadium_admin": key([.admin], of: stadium),
        ]
        for scope in APIKey.Scope.allCases { keys["gs_\(scope.rawValue)"] = key([scope]) }
        return keys
    }()

    private static func key(_ scopes: Set<APIKey.Scope>, of bundleID: BundleID? = nil) -> APIKey {
        APIKey(
            id: UUID(), name: "test", scopes: scopes, bundleID: bundleID, prefix: "gs_", createdAt: now, revokedAt: nil)
    }

    // Never closed, for it is never opened; contexts want one to belong to.
    private static let channel = NIOAsyncTestingChannel()

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:] }
        /// The last part of a problem's `type`.
        var slug: String? { (json["type"] as? String)?.split(separator: "/").last.map(String.init) }
        /// The places a problem points at.
        var pointers: [String] {
            (json["errors"] as? [[String: Any]])?.compactMap { $0["pointer"] as? String } ?? []
        }
    }

    /// Sends one request; a body goes as `application/json` unless `headers` say otherwise.
    func callAsFunction(
        _ method: String, _ path: String, _ body: [UInt8]? = nil, headers: [String: String] = [:],
        as secret: String? = "gs_admin"
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
            source: ApplicationRequestContextSource(channel: Self.channel, logger: Logger(label: "test")))
        let response = try await router.buildResponder().respond(to: request, context: context)
        return Answer(status: response.status.code, headers: response.headers, body: try await response.bytes())
    }

    private var router: Router<APIContext> {
        let now: @Sendable () -> Date = { Self.now }
        let groups: [[Route]] = [
            AppRoutes(apps: apps, quirks: quirks, gateway: gateway, now: now).routes,
            QuirkRoutes(apps: apps, quirks: quirks, now: now).routes,
            EventRoutes(apps: apps, events: events, now: now).routes,
            StartRoutes(apps: apps, events: events, starts: starts, now: now).routes,
            BroadcastRoutes(
                apps: apps, events: events, channels: channels, outbox: outbox,
                intake: Intake(outbox: outbox, now: now), now: now
            ).routes,
            KeyRoutes(ledger: ledger, now: now).routes,
            ContractRoutes().routes,
            others,
        ]
        return RouteTable(routes: groups.flatMap(\.self)).router(
            gate: Gate(
                keys: FakeKeys(known: Self.keys), uses: NoUses(),
                limits: RateLimits(.init(requests: nil, lookups: nil, failures: nil)), now: now, onTrust: { _ in }),
            idempotency: Idempotency(store: NoAnswersKept(), now: now),
            middleware: .init(
                headers: StandingHeaders(isSecure: false), logger: Logger(label: "test"), onAnswer: { _, _, _, _ in }))
    }
}
