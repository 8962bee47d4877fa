internal import Foundation
internal import GrandstandClient

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The API as any HTTP client sees it, headers and broken bodies included; `GrandstandClient` is for well-behaved
/// calls.
struct HTTPCaller: Sendable {
    let url: String
    /// The secret sent as a bearer token; `nil`: none.
    var secret: String?

    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 1_200
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = 16
        return URLSession(configuration: configuration)
    }()

    struct Answer: Sendable {
        let status: Int
        let body: Data
        /// The header fields of the answer, by lowercase name.
        let headers: [String: String]

        var json: JSON { (try? JSONDecoder().decode(JSON.self, from: body)) ?? .null }
        var text: String { String(decoding: body, as: UTF8.self) }
        /// The last part of a problem's `type`.
        var slug: String? { json["type"]?.string?.split(separator: "/").last.map(String.init) }
        /// The pointers of a problem's `errors`.
        var pointers: [String] { json["errors"]?.items.compactMap { $0["pointer"]?.string } ?? [] }
    }

    /// Makes a request; a body goes as `application/json` unless `headers` say otherwise.
    func callAsFunction(
        _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        try await callAsFunction(method, path, bytes: body.map { Data($0.utf8) }, headers: headers)
    }

    /// Makes a request with a body of any bytes.
    func callAsFunction(
        _ method: String, _ path: String, bytes: Data?, headers: [String: String] = [:]
    ) async throws -> Answer {
        guard let target = URL(string: url + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: target)
        request.httpMethod = method
        if let secret { request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization") }
        if let bytes {
            request.httpBody = bytes
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (body, response) = try await Self.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        var fields: [String: String] = [:]
        for case (let name, let value) as (String, String) in response.allHeaderFields {
            fields[name.lowercased()] = value
        }
        return Answer(status: response.statusCode, body: body, headers: fields)
    }

    /// On Linux, URLSession can lose a connection that the server closes, and then never answers. So a request also
    /// ends after 40 s.
    private static func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        let (answers, answer) = AsyncThrowingStream<(Data, URLResponse), any Error>.makeStream()
        let task = session.dataTask(with: request) { data, response, error in
            if let data, let response { answer.yield((data, response)) }
            answer.finish(throwing: error)
        }
        let limit = Task {
            try await Task.sleep(for: .seconds(40))
            answer.finish(throwing: URLError(.timedOut))
        }
        defer {
            limit.cancel()
            task.cancel()
        }
        task.resume()
        for try await answer in answers { return answer }
        throw CancellationError()
    }
}
