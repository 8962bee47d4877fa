public import Foundation
internal import GrandstandContract

/// Sends the client's requests. `URLSessionTransport` is the standard one; a test may answer requests itself.
public protocol ClientTransport: Sendable {
    /// Makes one request. It must not repeat the request by itself.
    ///
    /// - Returns: the whole answer. When the task is cancelled, the request ends at once.
    /// - Throws: `URLError` if no answer comes; `CancellationError`.
    func open(_ request: GrandstandClient.Request) async throws -> GrandstandClient.Answer
}

extension GrandstandClient {
    /// A request for a transport.
    public struct Request: Sendable, Hashable {
        /// The HTTP method.
        public var method: String
        /// The address.
        public var url: URL
        /// Header fields by name. They are not printed, because they contain keys.
        public var headers: [String: String] {
            get { fields.mapValues(\.rawValue) }
            set { fields = newValue.mapValues { Secret($0) } }
        }
        private var fields: [String: Secret]
        /// The body; `nil`: none.
        public var body: Data?
        /// Seconds without a byte from the server after which the request fails.
        public var timeout: TimeInterval

        /// A request with these values.
        public init(
            method: String, url: URL, headers: [String: String] = [:], body: Data? = nil,
            timeout: TimeInterval = 15
        ) {
            self.method = method
            self.url = url
            fields = headers.mapValues { Secret($0) }
            self.body = body
            self.timeout = timeout
        }
    }

    /// A complete answer.
    public struct Answer: Sendable, Hashable {
        /// The HTTP status.
        public let status: Int
        /// Header fields by their names in lower case.
        public let headers: [String: String]
        /// The body. It is JSON unless a proxy or another system answered.
        public let body: Data

        /// An answer with these values.
        ///
        /// - Parameter headers: header fields with names in any case.
        public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
            self.status = status
            self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { $1 }
            self.body = body
        }

        /// The header `ETag`, for `If-Match` of the call that changes the resource.
        public var entityTag: String? { headers["etag"] }

        /// The header `Retry-After` in seconds.
        var retryAfter: Int? { headers["retry-after"].flatMap { Int($0) }.map { max(0, $0) } }
    }
}
