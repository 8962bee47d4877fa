internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Synchronization

@testable internal import GrandstandServer

/// The console's pages behind their router, without a socket and a server. In a suite with the trait `database`, the
/// stores use the test's database; sign-in needs it.
@dynamicMemberLookup
struct ConsoleWorld {
    /// The ports, which the API has, too.
    private var ports: RouteWorld

    subscript<Port>(dynamicMember port: WritableKeyPath<RouteWorld, Port>) -> Port {
        get { ports[keyPath: port] }
        set { ports[keyPath: port] = newValue }
    }

    subscript<Part>(dynamicMember part: KeyPath<RouteWorld, Part>) -> Part { ports[keyPath: part] }

    init() { ports = RouteWorld(at: Samples.now) }

    /// The key that has this secret. A secret consists of its key's scopes, such as `operate-organise`.
    private static func key(of secret: String) throws -> APIKey {
        let scopes = Set(secret.split(separator: "-").map { Contract.Scope(rawValue: String($0)) })
        guard !scopes.isEmpty, scopes.isSubset(of: Contract.Scope.allCases) else {
            throw Problem(.unauthenticated, "This key is not known.")
        }
        return APIKey(id: id(of: secret), name: "test", scopes: scopes, reach: .all)
    }

    /// Pages and forms of the test, in addition to the console's.
    var others: [PageRoute] = []
    var now: @Sendable () -> Date = { Samples.now }

    private static let ids = Mutex<[String: UUID]>([:])

    /// The ID of the key with this secret. The same secret always has the same ID.
    static func id(of secret: String) -> UUID {
        ids.withLock { ids in
            let id = ids[secret] ?? UUID()
            ids[secret] = id
            return id
        }
    }

    /// A session that began just now with the key of `secret`.
    func session(_ secret: String) async throws -> SessionSecret {
        let key = try await stored(secret)
        return try await ports.api(now: now).beginSession(key)
    }

    /// The key with this secret, which is then in the database.
    private func stored(_ secret: String) async throws -> APIKey {
        let key = try Self.key(of: secret)
        try await ports.rows.add(key, secret)
        return key
    }

    /// Opens a page, in an existing session, or else signed in with `secret`; `nil`: not signed in.
    func get(
        _ path: String, as secret: String? = "admin", in session: SessionSecret? = nil, headers: [String: String] = [:]
    ) async throws -> RouteWorld.Answer {
        var session = session
        if session == nil, let secret { session = try await self.session(secret) }
        return try await send(.get, path, session: session, headers: headers)
    }

    /// Sends a form without adding a token.
    func post(
        _ path: String, _ form: [(String, String)] = [], in session: SessionSecret? = nil,
        headers: [String: String] = [:]
    ) async throws -> RouteWorld.Answer {
        let body = form.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        let type = ["Content-Type": "application/x-www-form-urlencoded"]
        return try await send(.post, path, session: session, headers: type.merging(headers) { $1 }, body: body)
    }

    /// Sends a form with a fresh token, signed in with `secret`.
    func submit(_ path: String, _ form: [(String, String)] = [], as secret: String = "admin") async throws
        -> RouteWorld.Answer
    {
        let session = try await session(secret)
        return try await post(path, form + [("token", session.formToken())], in: session)
    }

    /// Sends a request with a body of any type.
    func send(
        _ method: HTTPRequest.Method, _ path: String, session: SessionSecret?, headers: [String: String] = [:],
        body: String = ""
    ) async throws -> RouteWorld.Answer {
        var fields: HTTPFields = [.xRequestID: "1a2b"]
        if let session { fields[.cookie] = "grandstand-session=\(session.text)" }
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = fields[name].map { "\($0); \(value)" } ?? value }
        }
        let request = Request(
            head: HTTPRequest(
                method: method, scheme: nil, authority: "stadium.example", path: path, headerFields: fields),
            body: RequestBody(buffer: ByteBuffer(string: body)))
        for field in FormFields(body).entries where ["key", "currentKey"].contains(field.name) {
            _ = try? await stored(field.value.trimmed)
        }
        let response = try await api().responder().respond(to: request, context: RouteWorld.context)
        return try await RouteWorld.Answer(response)
    }

    /// The console's pages and forms.
    func pages() throws -> [PageRoute] { try api().pages }

    private func api() throws -> API {
        var api = try ports.api(now: now)
        api.console = try Console()
        api.console?.testPages = others
        return api
    }
}
