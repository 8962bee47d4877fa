package import FoundationEssentials

/// Limits of the receipts that are stored and reported. The API key for receipts ships in an app, so anybody can use
/// it. A match does not reach these limits.
package enum ReceiptBounds {
    /// The most receipts of one installation about one event that are kept: more than a match has messages.
    package static let ofEvent = 500
    /// The most receipts of one installation about all events, for as long as receipts are kept.
    package static let ofInstallation = 5_000
    /// The most messages without a broadcast, such as contents of starts, that are listed for an event and app.
    package static let otherMessages = 100
    /// The most seconds by which a message's timestamp may be before its event was declared.
    package static let before = 86_400

    /// The highest `aps.timestamp` that a message may have by now. A lane gives each message its own second, so the
    /// messages of a burst are ahead of the clock.
    package static func latest(at now: Date) -> Int { Int(now.timeIntervalSince1970) + 3_600 }
}
