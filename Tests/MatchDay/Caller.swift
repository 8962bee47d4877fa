internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The API as an organiser's backend calls it.
struct Caller: Sendable {
    let url: String
    let secret: String

    /// A reserved host (RFC 2606) is never asked: the default when a URL cannot be made.
    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        // A replica that is killed under a request, or a database that died under it: the next call is worth more.
        configuration.timeoutIntervalForRequest = 5
        configuration.httpMaximumConnectionsPerHost = 32
        return URLSession(configuration: configuration)
    }()

    struct Answer: Sendable {
        let status: Int
        let body: Data

        /// A member of the answer that is a text.
        func text(_ name: String) -> String? {
            (try? JSONSerialization.jsonObject(with: body) as? [String: Any])?[name] as? String
        }
    }

    /// - Throws: when there was no answer; it may have been carried out.
    func callAsFunction(
        _ method: String, _ path: String, _ body: String? = nil, idempotencyKey: String? = nil
    ) async throws -> Answer {
        guard let target = URL(string: url + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: target)
        request.httpMethod = method
        request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization")
        if let body {
            request.httpBody = Data(body.utf8)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        if let idempotencyKey { request.setValue(idempotencyKey, forHTTPHeaderField: "Idempotency-Key") }
        let (data, response) = try await Self.session.data(for: request)
        return Answer(status: (response as? HTTPURLResponse)?.statusCode ?? 0, body: data)
    }

    func isReady() async throws -> Bool { (try? await self("GET", "/readyz"))?.status == 200 }
}
