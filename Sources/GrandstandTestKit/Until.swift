/// The awaited condition did not come true.
package struct NeverHappened: Error, CustomStringConvertible {
    package let what: String

    package init(what: String) { self.what = what }

    package var description: String { "it never happened: \(what)" }
}

/// Asks until there is an answer: for what gives no signal, such as another process's state.
///
/// Between two probes there is a pause, for a probe takes the processor from what it waits for. No time passes once the
/// answer is there, and no bound is so tight that a busy machine meets it: how quick something is, benchmarks say.
///
/// - Throws: `NeverHappened` after `limit`, and what the probe throws.
package func until<Value>(
    _ what: String, within limit: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
    _ probe: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    while true {
        if let value = try await probe() { return value }
        guard clock.now < deadline else { throw NeverHappened(what: what) }
        try await clock.sleep(for: .milliseconds(10))
    }
}

/// Asks until it holds, as the other `until` does.
package func until(
    _ what: String, within limit: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
    _ holds: () async throws -> Bool
) async throws {
    let _: Void = try await until(what, within: limit) { try await holds() ? () : nil }
}
