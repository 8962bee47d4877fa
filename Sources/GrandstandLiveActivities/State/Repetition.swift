package import Foundation

/// When an installation registers again although nothing changed, so that the server does not forget it.
///
/// Phones are opened in the same minutes, at a kick-off. So each phone draws its own times: it is due about a week after
/// its last registration, and registers at a random time within the hour after the app was opened. If the app is never
/// open for so long, it registers within a minute once a limit of its own, four to twelve weeks, is over. The server
/// forgets an installation after 180 days, unless it is told otherwise.
package struct Repetition: Codable, Sendable, Hashable {
    /// When the last registration was answered.
    package var registered: Date
    /// From 0 to 1, drawn with it.
    package var chance: Double

    package init(registered: Date, chance: Double) {
        self.registered = registered
        self.chance = chance
    }

    private static let day: TimeInterval = 86_400

    /// In how many seconds an app that was opened now registers.
    ///
    /// - Parameter jitter: from 0 to 1, drawn anew at each opening.
    /// - Returns: `nil`: not before it is opened again.
    package func delay(at now: Date, jitter: Double) -> TimeInterval? {
        let age = now.timeIntervalSince(registered)
        // A clock that was set back says nothing: it is as if the time had come.
        if age >= 0, age < (6.5 + chance) * Self.day { return nil }
        return age < (28 + chance * 56) * Self.day ? jitter * 3_600 : jitter * 60
    }
}
