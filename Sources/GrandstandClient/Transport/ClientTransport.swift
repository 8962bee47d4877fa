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

/// The clocks and random numbers that the client uses. Tests replace them.
package struct ClientTime: Sendable {
    /// The wall clock.
    package var now: @Sendable () -> Date
    /// Seconds of a monotonic clock that also runs while the system sleeps. Only differences are meaningful.
    package var uptime: @Sendable () -> TimeInterval
    /// Waits for this many seconds. Throws `CancellationError` at once if the task is cancelled.
    package var sleep: @Sendable (TimeInterval) async throws -> Void
    /// A random number from 0 to 1.
    package var random: @Sendable () -> Double

    /// The system's clocks and random numbers.
    package static let system =
        ClientTime(
            now: { Date() }, uptime: { sinceBoot() },
            sleep: { try await Task.sleep(nanoseconds: UInt64(max(0, min($0, longestSleep)) * 1e9)) },
            random: { Double.random(in: 0...1) })

    /// A year. It keeps the conversion to nanoseconds from overflowing; callers check the time again after a sleep.
    private static let longestSleep: TimeInterval = 366 * 86_400

    /// This does not use Swift's own clocks, because they need iOS 16.
    private static func sinceBoot() -> TimeInterval {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1e9
    }
}

/// A value with a lock. Swift's own `Mutex` needs iOS 18.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
