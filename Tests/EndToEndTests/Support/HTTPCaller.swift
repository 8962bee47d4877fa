internal import Foundation
internal import JSON
internal import Testing

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The API as any HTTP client sees it, headers and broken bodies included; `GrandstandClient` is for well-behaved
/// calls.
struct HTTPCaller: Sendable {
    let url: String
    /// The secret sent as a bearer token; `nil`: none.
    var secret: String?
    /// On Linux, URLSession can lose a connection that the server closes, and then never answers. So a request also
    /// ends after this time.
    var timeout = Duration.seconds(40)

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

        var json: JSON { JSON(body) }
        var text: String { String(decoding: body, as: UTF8.self) }
        /// The last part of a problem's `type`.
        var slug: String? { json["type"]?.string?.split(separator: "/").last.map(String.init) }
    }

    /// Makes a request; a body goes as `application/json` unless `headers` say otherwise.
    func callAsFunction(
        _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        guard let target = URL(string: url + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: target)
        request.httpMethod = method
        if let secret { request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization") }
        if let body {
            request.httpBody = Data(body.utf8)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        var fields: [String: String] = [:]
        for case (let name, let value) as (String, String) in response.allHeaderFields {
            fields[name.lowercased()] = value
        }
        return Answer(status: response.statusCode, body: data, headers: fields)
    }

    private func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        let (answers, answer) = AsyncThrowingStream<(Data, URLResponse), any Error>.makeStream()
        let task = Self.session.dataTask(with: request) { data, response, error in
            if let data, let response { answer.yield((data, response)) }
            answer.finish(throwing: error)
        }
        let limit = Task {
            try await Task.sleep(for: timeout)
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

/// Any JSON, for looking into answers without a type for each. A text that is not JSON has no members.
struct JSON: Sendable {
    private let value: JSONValue?

    init(_ text: some Sequence<UInt8>) { value = try? JSONValue(decoding: text) }
    private init(_ value: JSONValue) { self.value = value }

    /// A member of an object; `nil` when it is not there or null.
    subscript(name: String) -> JSON? { value?[name].flatMap { $0.isNull ? nil : JSON($0) } }

    subscript(index: Int) -> JSON? { items.indices.contains(index) ? items[index] : nil }

    /// The elements of an array; empty for any other value.
    var items: [JSON] { (value?.elements ?? []).map { JSON($0) } }

    var string: String? { value?.string }

    var int: Int? { value?.integer }

    var bool: Bool? { if case .bool(let flag)? = value?.kind { flag } else { nil } }

    /// The members of an object, by name.
    var members: [String: JSON] {
        guard case .object(let members)? = value?.kind else { return [:] }
        return Dictionary(uniqueKeysWithValues: members.map { ($0.name, JSON($0.value)) })
    }
}

/// A raw TCP connection.
final class Peer {
    let descriptor: Int32

    init(_ url: String) throws {
        let port = try #require(URL(string: url)?.port)
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// The next answer with its whole body, or the part of it that came before the server closed.
    func answer() async -> String { await read(until: Self.isWhole) }

    /// Everything until the server closes.
    func untilClosed() async -> String { await read { _ in false } }

    private func read(until isEnough: @escaping @Sendable ([UInt8]) -> Bool) async -> String {
        let descriptor = descriptor
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 16_384)
                while !isEnough(bytes) {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    bytes += buffer.prefix(count)
                }
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        let length = text[..<end.lowerBound].lowercased().firstMatch(of: /content-length: (\d+)/)?.output.1
        return text[end.upperBound...].utf8.count >= length.flatMap { Int($0) } ?? 0
    }

    /// What has arrived by now; `nil`: nothing.
    func takeNow() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }

    /// Ends the connection at once, as if it were lost: nothing more is sent or read.
    func hangUp() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    deinit { close(descriptor) }
}
