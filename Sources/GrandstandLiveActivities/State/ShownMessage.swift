package import Foundation

/// A message that was shown: a receipt.
package struct ShownMessage: Codable, Sendable, Hashable {
    package var eventKey: String
    /// `aps.timestamp` of the message, seconds since 1970.
    package var timestamp: Int
    /// By this phone's clock.
    package var shownAt: Date

    package init(eventKey: String, timestamp: Int, shownAt: Date) {
        self.eventKey = eventKey
        self.timestamp = timestamp
        self.shownAt = shownAt
    }
}
