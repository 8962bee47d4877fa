package import Foundation

/// When to try again: after 1, 2, 4 … seconds, at most five minutes. Each wait is randomly shortened by up to half.
/// Without the random part, a million phones that lost the same server would return in the same second.
package struct Backoff: Sendable, Hashable {
    private var failures = 0
    private var next: TimeInterval = .zero
    /// The time before which nothing may be sent, because the server asked for a wait.
    private var held: TimeInterval = .zero

    package init() {}

    private static let longest = 300.0

    /// - Parameters:
    ///   - retryAfter: the wait that the server asked for, in seconds.
    ///   - jitter: a random number from 0 up to 1.
    package mutating func fail(at now: TimeInterval, retryAfter: Int? = nil, jitter: Double) {
        let pause = failures > 8 ? Self.longest : Double(1 << failures)
        failures += 1
        next = now + pause * (1 - jitter / 2)
        // The server may tell all phones to return at the same time, for example when an event's channel will be
        // created. So each phone returns at a random time, up to half a minute after the time that the server gave.
        if let retryAfter { held = now + Double(retryAfter) + jitter * Double(min(retryAfter, 30)) }
    }

    package mutating func succeed() { self = Backoff() }

    /// Ends the wait, because the app came to the foreground. A wait that the server asked for still applies.
    package mutating func hurry() {
        next = .zero
        failures = 0
    }

    package var notBefore: TimeInterval { max(next, held) }
}
