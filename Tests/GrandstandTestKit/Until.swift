package import FoundationEssentials
internal import Synchronization

/// An awaited condition did not become true in time.
package struct NeverHappened: Error, CustomStringConvertible {
    package let what: String

    package init(what: String) { self.what = what }

    package var description: String { "it never happened: \(what)" }
}

/// Calls the probe until it returns a value. Use this only for conditions without a signal, such as the state of
/// another process.
///
/// There is a pause between two calls, because the probe takes processor time from the process that it observes.
/// `limit` is generous, so that a busy machine does not fail the test. Speed is measured by benchmarks, not by this
/// function.
///
/// - Throws: `NeverHappened` after `limit`, and the errors of the probe.
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

/// Calls the probe until it returns `true`. See the other `until`.
package func until(
    _ what: String, within limit: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
    _ holds: () async throws -> Bool
) async throws {
    let _: Void = try await until(what, within: limit) { try await holds() ? () : nil }
}

/// Runs `body` and then `end`, even if `body` throws.
package func ending<Value>(
    with end: () async throws -> Void, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
) async throws -> Value {
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    try await end()
    return try result.get()
}

/// Calls `body` so often at the same time, with the numbers from 0.
package func concurrently<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

/// SplitMix64: the same seed gives the same numbers on every machine.
package struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    package mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

extension [UInt8] {
    /// Changes, removes or doubles some bytes at a random place, cuts the rest off, or inserts one of the words.
    package mutating func damage(with words: [[UInt8]], using random: inout some RandomNumberGenerator) {
        guard !isEmpty else { return append(.random(in: .min ... .max, using: &random)) }
        let place = Int.random(in: indices, using: &random)
        let part = place..<Swift.min(count, place + .random(in: 1...80, using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: self[place] = .random(in: .min ... .max, using: &random)
        case 1: removeSubrange(part)
        case 2: insert(contentsOf: self[part], at: place)
        case 3: removeSubrange(place...)
        default: insert(contentsOf: words.randomElement(using: &random) ?? [], at: place)
        }
    }
}

/// A clock that moves only when the test says so.
package final class ManualClock: Sendable {
    private let date: Mutex<Date>

    /// - Parameter date: use a whole number of microseconds, which the database stores exactly.
    package init(_ date: Date = Date(timeIntervalSince1970: 1_700_000_000)) { self.date = Mutex(date) }

    package var now: Date { date.withLock { $0 } }

    /// Moves the clock on by `seconds` and returns the new time.
    @discardableResult
    package func advance(by seconds: Double) -> Date {
        date.withLock { date in
            date = date.addingTimeInterval(seconds)
            return date
        }
    }
}
