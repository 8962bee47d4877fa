public import Foundation
@_exported public import GrandstandContract

/// A client of Grandstand's HTTP API, for apps and for servers.
///
///     let client = GrandstandClient(server: server, key: key, cache: .standard)
///     let derby = try await client.lookup("derby", in: .init("com.example.Stadium", .production))
///
/// `lookup` and its relatives are for apps: they wait for a channel that is being made, and answer from the cache where
/// they may. Everything else of the API is a `Call`: `try await client.send(.getEvent("derby"))`. All requests are made
/// again as `RetryPolicy` says; a POST carries an `Idempotency-Key`, so that nothing is done twice. Safe to use from any
/// task; a cancelled task's request ends at once.
public struct GrandstandClient: Sendable {
    let server: URL
    let key: Secret?
    let transport: any ClientTransport
    let retry: RetryPolicy
    let timeout: TimeInterval
    let cache: AnswerCache?
    let time: ClientTime

    /// - Parameters:
    ///   - server: the server's base URL, e.g. `https://grandstand.example.com`.
    ///   - key: the secret that `grandstand key create` printed; an app's has the scope `device` or `lookup`. It is not
    ///     printed with the client.
    ///   - transport: what carries the requests.
    ///   - retry: when a request is made again.
    ///   - timeout: how many seconds the server may be silent before an attempt has failed.
    ///   - cache: where lookups are kept; without one each is asked of the server.
    public init(
        server: URL, key: String?, transport: any ClientTransport = URLSessionTransport(),
        retry: RetryPolicy = .standard, timeout: TimeInterval = 15, cache: AnswerCache? = nil
    ) {
        self.init(
            server: server, key: key, transport: transport, retry: retry, timeout: timeout, cache: cache, time: .system)
    }

    package init(
        server: URL, key: String?, transport: any ClientTransport, retry: RetryPolicy = .standard,
        timeout: TimeInterval = 15, cache: AnswerCache? = nil, time: ClientTime
    ) {
        self.server = server
        self.key = key.map { Secret($0) }
        self.transport = transport
        self.retry = retry
        self.timeout = timeout
        self.cache = cache
        self.time = time
    }

    /// Makes a call of the API.
    ///
    /// - Throws: `ServerProblem` for a refusal; `URLError` when no answer came in time; `CancellationError`;
    ///   `DecodingError` for an answer that is not Grandstand's.
    @discardableResult
    public func send<Value>(_ call: Call<Value>) async throws -> Value { try await reply(to: call).value }

    /// Makes a call of the API and returns its answer with what stands around the value.
    ///
    /// - Throws: as `send`.
    public func reply<Value>(to call: Call<Value>) async throws -> Reply<Value> {
        let answer = try await exchange(call)
        guard call.isAnswer(answer) else { throw ServerProblem(answer) }
        return Reply(value: try call.read(answer), answer: answer)
    }

    /// Makes a call of the API and returns its answer as it came, a refusal, too.
    ///
    /// - Throws: `URLError` when no answer came in time; `CancellationError`.
    public func exchange<Value>(_ call: Call<Value>) async throws -> Answer {
        try await exchange(request(call), as: retry) { call.isAnswer($0) }
    }

    /// Makes a request once and returns its answer, whatever its status: for what no `Call` says.
    ///
    /// - Parameters:
    ///   - path: begins with `/`; its parts must be percent-encoded.
    ///   - json: the body's JSON text, sent as it is.
    ///   - headers: further header fields, e.g. `If-Match`.
    /// - Throws: `URLError` when there is no answer.
    public func send(
        _ method: String, _ path: String, json: Data? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        try await transport.open(try request(method, path, body: json, headers: headers)).whole()
    }

    /// Makes a request once and decodes its answer.
    ///
    /// - Throws: `ServerProblem` for any status but 2xx; `DecodingError`; `URLError`.
    public func call<Value: Decodable>(
        _ method: String, _ path: String, json: Data? = nil, as type: Value.Type = Value.self
    ) async throws -> Value {
        let answer = try await send(method, path, json: json)
        guard (200..<300).contains(answer.status) else { throw ServerProblem(answer) }
        return try CodableJSON.value(type, in: answer.body)
    }

    /// A part of a path, percent-encoded.
    public static func encoded(_ part: String) -> String {
        part.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~")))
            ?? part
    }

    func request<Value>(_ call: Call<Value>) throws -> Request {
        try request(
            call.operation.method, call.target, body: call.body, headers: call.headers.mapValues(\.rawValue))
    }

    private func request(
        _ method: String, _ path: String, body: Data?, headers: [String: String]
    ) throws -> Request {
        let base = server.absoluteString
        guard let url = URL(string: (base.hasSuffix("/") ? String(base.dropLast()) : base) + path) else {
            throw URLError(.badURL)
        }
        var fields = headers
        if let key { fields["Authorization"] = "Bearer \(key.rawValue)" }
        if body != nil, fields["Content-Type"] == nil { fields["Content-Type"] = "application/json" }
        return Request(method: method, url: url, headers: fields, body: body, timeout: timeout)
    }
}
