package import Foundation

/// When to try again: after 1, 2, 4 … seconds, at most five minutes. Each wait is randomly shortened by up to half.
/// Without the random part, a million phones that lost the same server would return in the same second.
package struct Backoff: Sendable, Hashable {
    private var failures = 0
    private var nextAt: TimeInterval = .zero
    /// The time before which nothing may be sent, because the server asked for a wait.
    private var held: TimeInterval = .zero

    package init() {}

    private static let maxPause = 300.0

    /// - Parameters:
    ///   - retryAfter: the wait that the server asked for, in seconds.
    ///   - jitter: a random number from 0 up to 1.
    package mutating func fail(at now: TimeInterval, retryAfter: Int? = nil, jitter: Double) {
        let pause = failures > 8 ? Self.maxPause : Double(1 << failures)
        failures += 1
        nextAt = now + pause * (1 - jitter / 2)
        // The server may tell all phones to return at the same time, for example when an event's channel will be
        // created. So each phone returns at a random time, up to half a minute after the time that the server gave.
        if let retryAfter { held = now + Double(retryAfter) + jitter * Double(min(retryAfter, 30)) }
    }

    package mutating func succeed() { self = Backoff() }

    /// Ends the wait, because the app came to the foreground. A wait that the server asked for still applies.
    package mutating func hurry() {
        nextAt = .zero
        failures = 0
    }

    package var notBefore: TimeInterval { max(nextAt, held) }
}

/// When an installation registers again without a change, so that the server does not forget it.
///
/// At a kick-off, many people open the app in the same minute, so each phone uses random times. About a week after the
/// last registration, the next registration is due. The phone sends it at a random time within an hour after the app
/// was opened. But some people never leave the app open for so long. So when four to twelve weeks have passed, the
/// phone registers within a minute after the app was opened. The server forgets an installation after 180 days by
/// default.
package struct Reregistration: Codable, Sendable, Hashable {
    /// When the last registration was answered.
    package var registered: Date
    /// A random number from 0 to 1, drawn when the last registration was answered.
    package var chance: Double

    package init(registered: Date, chance: Double) {
        self.registered = registered
        self.chance = chance
    }

    private static let day: TimeInterval = 86_400

    /// The seconds from the opening of the app, at `now`, to the installation's next registration.
    ///
    /// - Parameter jitter: a random number from 0 to 1, drawn at each opening.
    /// - Returns: `nil`: no registration is due before the app is opened again.
    package func delay(at now: Date, jitter: Double) -> TimeInterval? {
        let age = now.timeIntervalSince(registered)
        // If the clock was set back, the age of the last registration is unknown, so the next registration counts as
        // due.
        if age >= 0, age < (6.5 + chance) * Self.day { return nil }
        return age < (28 + chance * 56) * Self.day ? jitter * 3_600 : jitter * 60
    }
}
