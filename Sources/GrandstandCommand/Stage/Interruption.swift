internal import ArgumentParser
internal import UnixSignals

/// Runs `body`, and cancels it on SIGINT or SIGTERM. `body` then stops everything in order, and the command exits with
/// 130.
func interruptible<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    // Install the handlers first, because somebody may interrupt as soon as the body shows something.
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
