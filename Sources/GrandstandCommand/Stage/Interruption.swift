internal import ArgumentParser
internal import UnixSignals

/// Runs `body`, which SIGINT and SIGTERM cancel: what it started is ended in order, then the command exits with 130.
func interruptible<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    // Before the body begins: whoever sees something of it may interrupt it already.
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask {
            for await _ in signals { throw ExitCode(130) }
            return nil
        }
        group.addTask { try await body() }
        defer { group.cancelAll() }
        while let value = try await group.next() { if let value { return value } }
        throw CancellationError()
    }
}
