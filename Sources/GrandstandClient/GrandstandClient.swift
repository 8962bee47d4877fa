public import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A client of Grandstand's HTTP API, for servers, command lines and iOS apps.
///
/// Apps need `lookup` only; give them a key with the scope `lookup`. Safe to use from any task.
public struct GrandstandClient: Sendable {
    private let url: URL
    private let apiKey: String?
    private let session: URLSession

    /// - Parameters:
    ///   - url: the server's base URL, e.g. `https://grandstand.example.com`.
    ///   - apiKey: the secret `grandstand keys create` printed.
    ///   - timeout: seconds until a request without an answer fails.
    public init(url: URL, apiKey: String?, timeout: TimeInterval = 15) {
        self.url = url
        self.apiKey = apiKey
        let configuration = URLSessionConfiguration.ephemeral
        // Lookups may be cached for ten seconds. Whoever has just changed something asks for what is so now, and apps ask
        // once before they start an activity.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = timeout
        session = URLSession(configuration: configuration)
    }

    /// Makes a request and returns its answer, whatever its status.
    ///
    /// - Parameters:
    ///   - path: begins with `/`; its parts must be percent-encoded.
    ///   - json: the body's JSON text, sent as it is.
    ///   - headers: further header fields, e.g. `If-Match`.
    /// - Throws: `URLError` when there is no answer.
    public func send(
        _ method: String, _ path: String, json: Data? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        guard let target = URL(string: url.absoluteString.trimmedSlash + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: target)
        request.httpMethod = method
        if let apiKey { request.setValue("Bearer \(apiKey)", forHTTPHeaderField: "Authorization") }
        if let json {
            request.httpBody = json
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (body, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return Answer(
            status: response.statusCode, body: body, entityTag: response.value(forHTTPHeaderField: "ETag"))
    }

    /// Makes a request and decodes its answer.
    ///
    /// - Throws: `ServerProblem` for any status but 2xx; `DecodingError`; `URLError`.
    public func call<Value: Decodable>(
        _ method: String, _ path: String, json: Data? = nil, as type: Value.Type = Value.self
    ) async throws -> Value {
        let answer = try await send(method, path, json: json)
        guard (200..<300).contains(answer.status) else { throw ServerProblem(answer) }
        return try JSONDecoder.grandstand.decode(type, from: answer.body)
    }

    /// The channel of an event, for an app that is about to start a Live Activity.
    ///
    /// - Throws: `ServerProblem`: `event-not-found`; `channel-pending`, ask again soon; `event-ended`.
    public func lookup(
        bundleID: String, environment: String, eventKey: String
    ) async throws -> ChannelLookup {
        try await call("GET", "/v1/lookup/\(bundleID)/\(environment)/\(Self.encoded(eventKey))")
    }

    /// A part of a path, percent-encoded.
    public static func encoded(_ part: String) -> String {
        part.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~")))
            ?? part
    }

    /// An answer as it came.
    public struct Answer: Sendable, Hashable {
        /// The HTTP status.
        public let status: Int
        /// The body as it came; JSON, unless something stands between client and server.
        public let body: Data
        /// The header `ETag`: for `If-Match` of the PUT that changes what was got.
        public let entityTag: String?
    }
}

/// What an app needs to start a Live Activity on a channel.
public struct ChannelLookup: Decodable, Sendable, Hashable {
    /// The organiser's name for the event.
    public let eventKey: String
    /// For `Activity.request(…, pushType: .channel(channelId))`, as it is.
    public let channelId: String
    /// `noMessageStored` or `mostRecentMessageStored`.
    public let storagePolicy: String
    /// `scheduled` or `live`.
    public let state: String
    /// When the event is planned to start.
    public let startsAt: Date?
    /// When the event is planned to end.
    public let endsAt: Date?
}

extension String {
    fileprivate var trimmedSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
