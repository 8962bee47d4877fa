public import Foundation
internal import GrandstandContract

/// What carries the client's requests. `URLSessionTransport` is the usual one; a test's may answer by itself.
public protocol ClientTransport: Sendable {
    /// Makes one request, and never a second one by itself.
    ///
    /// - Returns: the answer's head as soon as it is there, and the body as it comes. Cancelling the task, or letting go
    ///   of the body, ends the request at once.
    /// - Throws: `URLError` when no answer comes; `CancellationError`.
    func open(_ request: GrandstandClient.Request) async throws -> GrandstandClient.Response
}

extension GrandstandClient {
    /// A request as it goes out.
    public struct Request: Sendable, Hashable {
        /// The HTTP method.
        public var method: String
        /// Where it goes.
        public var url: URL
        /// Header fields by name. They are not printed, as keys are among them.
        public var headers: [String: String] {
            get { fields.mapValues(\.rawValue) }
            set { fields = newValue.mapValues { Secret($0) } }
        }
        private var fields: [String: Secret]
        /// The body; `nil`: none.
        public var body: Data?
        /// How many seconds the server may be silent.
        public var timeout: TimeInterval

        /// A request for a transport.
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

    /// The head of an answer, and its body as it comes.
    public struct Response: Sendable {
        /// The HTTP status.
        public var status: Int
        /// Header fields by their names in lower case.
        public var headers: [String: String]
        /// The body in pieces; it throws when the connection ends early.
        public var body: AsyncThrowingStream<Data, any Error>

        /// An answer of a transport.
        ///
        /// - Parameter headers: their names in any case.
        public init(status: Int, headers: [String: String], body: AsyncThrowingStream<Data, any Error>) {
            self.status = status
            self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { $1 }
            self.body = body
        }

        /// An answer that is whole already.
        public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
            self.init(
                status: status, headers: headers,
                body: AsyncThrowingStream {
                    $0.yield(body)
                    $0.finish()
                })
        }

        /// Reads the body to its end.
        func whole() async throws -> Answer {
            var bytes = Data()
            for try await piece in body { bytes += piece }
            try Task.checkCancellation()
            return Answer(status: status, headers: headers, body: bytes)
        }
    }

    /// An answer as it came.
    public struct Answer: Sendable, Hashable {
        /// The HTTP status.
        public let status: Int
        /// Header fields by their names in lower case.
        public let headers: [String: String]
        /// The body as it came; JSON, unless something stands between client and server.
        public let body: Data

        init(status: Int, headers: [String: String], body: Data) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// The header `ETag`: for `If-Match` of the PUT that changes what was got.
        public var entityTag: String? { headers["etag"] }

        /// The header `Retry-After` in seconds.
        var retryAfter: Int? { headers["retry-after"].flatMap { Int($0) }.map { max(0, $0) } }
    }
}
