package import Foundation

/// When an installation registers again without a change, so that the server does not forget it.
///
/// At a kick-off, many people open the app in the same minute, so each phone uses random times. About a week after the
/// last registration, the next registration is due. The phone sends it at a random time within an hour after the app
/// was opened. But some people never leave the app open for so long. So when four to twelve weeks have passed, the
/// phone registers within a minute after the app was opened. The server forgets an installation after 180 days by
/// default.
package struct Repetition: Codable, Sendable, Hashable {
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
