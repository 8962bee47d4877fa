package import Foundation

/// When to try again: after 1, 2, 4 … seconds, at most five minutes, each shortened by up to a half so that a million
/// phones that lost the same server do not come back in the same second.
package struct Backoff: Sendable, Hashable {
    private var failures = 0
    private var next: TimeInterval = .zero
    /// Until when the server wants to be left alone.
    private var held: TimeInterval = .zero

    package init() {}

    private static let longest = 300.0

    /// - Parameters:
    ///   - retryAfter: what the server asked for, in seconds.
    ///   - jitter: from 0 up to 1.
    package mutating func fail(at now: TimeInterval, retryAfter: Int? = nil, jitter: Double) {
        let pause = failures > 8 ? Self.longest : Double(1 << failures)
        failures += 1
        next = now + pause * (1 - jitter / 2)
        // All phones were told the same moment, an opening above all: they come within half a minute after it.
        if let retryAfter { held = now + Double(retryAfter) + jitter * Double(min(retryAfter, 30)) }
    }

    package mutating func succeed() { self = Backoff() }

    /// There is reason to try at once, as the app came to the front. What the server asked for still holds.
    package mutating func hurry() {
        next = .zero
        failures = 0
    }

    package var notBefore: TimeInterval { max(next, held) }
}
