@testable import HTTP2

/// The least that a pool must do: repeat requests that were never processed, on a new connection if the old one accepts
/// no more.
actor RetryingCaller {
    private let settings: HTTP2ClientConfiguration
    private var current: Task<HTTP2ClientConnection, any Error>?
    private(set) var connections = 0
    private(set) var retries = 0

    init(_ settings: HTTP2ClientConfiguration) { self.settings = settings }

    /// The number of attempts is limited, so that a test cannot run forever.
    func send(_ request: HTTP2Request) async throws -> HTTP2Response {
        for _ in 0..<500 {
            let connection = try await usable()
            switch await connection.outcome(request) {
            case .success(let response): return response
            case .failure(.notProcessed): retries += 1
            case .failure(let failure): throw failure
            }
        }
        throw HTTP2Failure.notProcessed("500 attempts")
    }

    func close() async {
        if let connection = try? await current?.value { await connection.close() }
    }

    private func usable() async throws -> HTTP2ClientConnection {
        if let current {
            let connection = try await current.value
            if connection.state.isUsable { return connection }
            // Another task may have replaced the connection while this task waited.
            if self.current == current { self.current = nil }
        }
        if let current { return try await current.value }
        let settings = settings
        let attempt = Task { try await HTTP2ClientConnection.connect(settings, logger: quiet) as HTTP2ClientConnection }
        current = attempt
        connections += 1
        return try await attempt.value
    }
}

/// Sends `count` requests, `concurrency` at a time, each with its own path.
func flood(
    _ count: Int, concurrency: Int, _ send: @escaping @Sendable (HTTP2Request) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            if number >= concurrency { try await group.next() }
            group.addTask { try await send(post("/\(number)")) }
        }
        try await group.waitForAll()
    }
}
