package import FoundationEssentials

/// Limits of what is kept and reported of receipts. Their key ships in an app, so strangers have it, and what it can
/// make grow has bounds that a match does not reach.
package enum ReceiptBounds {
    /// Receipts that are kept of an installation about one event: more than a match has messages.
    package static let ofEvent = 500
    /// The same about all events, for as long as receipts are kept.
    package static let ofInstallation = 5_000
    /// Messages of an event and app that are listed beside those of broadcasts: the contents of its starts.
    package static let otherMessages = 100
    /// Seconds before its event was declared that a message's timestamp may be.
    package static let before = 86_400

    /// The highest `aps.timestamp` that a message may have by now: a lane gives each message its own second, so a burst is
    /// ahead of the clock.
    package static func latest(at now: Date) -> Int { Int(now.timeIntervalSince1970) + 3_600 }
}
