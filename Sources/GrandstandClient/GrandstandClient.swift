public import Foundation
@_exported public import GrandstandContract

/// A client of Grandstand's HTTP API, for apps and for servers.
///
///     let client = GrandstandClient(server: server, key: key, cache: .standard)
///     let derby = try await client.lookup("derby", in: .init("com.example.Stadium", .production))
///
/// `lookup` and `followables` are for apps: they wait for a pending channel, and answer from the cache where that is
/// allowed. All other operations are a `Call`: `try await client.send(.getEvent("derby"))`. Failed requests are
/// repeated by `RetryPolicy`. A POST carries an `Idempotency-Key`, so a repetition has no second effect. The client can
/// be used from any task. When a task is cancelled, its request ends at once.
public struct GrandstandClient: Sendable {
    let server: URL
    let key: Secret?
    let transport: any ClientTransport
    let retry: RetryPolicy
    let timeout: TimeInterval
    let cache: AnswerCache?
    /// Tests replace it.
    package var time = ClientTime.system

    /// - Parameters:
    ///   - server: the server's base URL, e.g. `https://grandstand.example.com`.
    ///   - key: the secret that `grandstand key create` printed; an app's key has the scope `device` or `lookup`. If
    ///     the client is printed, the key is hidden.
    ///   - transport: sends the requests.
    ///   - retry: says when a request is repeated.
    ///   - timeout: seconds without a byte from the server after which an attempt fails.
    ///   - cache: stores the answers to lookups; without it every lookup is a request.
    public init(
        server: URL, key: String?, transport: any ClientTransport = URLSessionTransport(),
        retry: RetryPolicy = .standard, timeout: TimeInterval = 15, cache: AnswerCache? = nil
    ) {
        self.server = server
        self.key = key.map { Secret($0) }
        self.transport = transport
        self.retry = retry
        self.timeout = timeout
        self.cache = cache
    }

    /// Makes a call of the API.
    ///
    /// - Throws: `ServerProblem` for a refusal; `URLError` if no answer came in time; `CancellationError`;
    ///   `DecodingError` for an answer that is not Grandstand's.
    @discardableResult
    public func send<Value>(_ call: Call<Value>) async throws -> Value { try await reply(to: call).value }

    /// Makes a call of the API and returns the value together with status and headers.
    ///
    /// - Throws: the errors of `send`.
    public func reply<Value>(to call: Call<Value>) async throws -> Reply<Value> {
        let answer = try await exchange(call)
        guard call.accepts(answer) else { throw ServerProblem(answer) }
        return Reply(value: try call.read(answer), answer: answer)
    }

    /// Makes a call of the API and returns its answer undecoded, even if it is a refusal.
    ///
    /// - Throws: `URLError` if no answer came in time; `CancellationError`.
    public func exchange<Value>(_ call: Call<Value>) async throws -> Answer {
        try await exchange(request(call), as: retry) { call.accepts($0) }
    }

    /// A segment of a path, percent-encoded.
    public static func encoded(_ part: String) -> String {
        part.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~")))
            ?? part
    }

    func request<Value>(_ call: Call<Value>) throws -> Request {
        let base = server.absoluteString
        let address = base.hasSuffix("/") ? base.dropLast() + call.target : base + call.target
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var fields = call.headers.mapValues(\.rawValue)
        if let key { fields["Authorization"] = "Bearer \(key.rawValue)" }
        if call.body != nil, fields["Content-Type"] == nil { fields["Content-Type"] = "application/json" }
        return Request(method: call.operation.method, url: url, headers: fields, body: call.body, timeout: timeout)
    }
}
