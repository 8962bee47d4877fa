internal import Foundation
internal import GrandstandServer

extension Server {
    /// Runs the server while `body` runs. `body` gets the port. Returns when the server has stopped.
    func whileRunning<Value: Sendable>(
        _ body: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> Value {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await run { continuation.yield($0) }
                return nil
            }
            group.addTask {
                var iterator = ports.makeAsyncIterator()
                guard let port = await iterator.next() else { throw StartError("the server did not start") }
                return try await body(port)
            }
            // The body ends first, unless the server fails.
            let first = try await group.next()
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
            guard case .some(.some(let value)) = first else { throw CancellationError() }
            return value
        }
    }

    /// The URL of a server on this machine.
    static func address(_ scheme: String, _ port: Int) throws -> URL {
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)") else { throw StartError("no address") }
        return url
    }
}
