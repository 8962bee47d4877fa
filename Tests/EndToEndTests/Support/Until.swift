internal import Testing

/// What was waited for did not come.
struct NeverHappened: Error, CustomStringConvertible {
    let what: String

    var description: String { "it never happened: \(what)" }
}

/// Asks until there is an answer: a probe is a round trip to the server, and that is the wait.
///
/// - Throws: `NeverHappened` after `limit`.
func until<Value>(
    _ what: String, within limit: Duration = .seconds(30), _ probe: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    while clock.now < deadline {
        if let value = try await probe() { return value }
        await Task.yield()
    }
    throw NeverHappened(what: what)
}
