package import FoundationEssentials

/// The push-to-start of an event as its organiser declares it. The organiser's JSON reaches Apple byte for byte.
package struct StartDeclaration: Sendable, Hashable {
    /// `nil`: when the event starts.
    package var at: Date?
    /// Installations that become followers after `at` get the start until this time; `nil`: until the event ends, or
    /// four hours after `at`.
    package var until: Date?
    package var attributesType: String
    /// JSON object text.
    package var attributes: [UInt8]
    /// JSON object text. It is used until a broadcast with content is accepted; from then on each push has the newest
    /// accepted content. `nil`: no push is sent before there is an accepted content.
    package var contentState: [UInt8]?
    /// JSON object text: Apple starts nothing without an alert.
    package var alert: [UInt8]
    /// Alerts by BCP 47 language tag.
    package var alertsByLocale: [String: [UInt8]]
    package var staleDate: Date?
    /// `nil`: all of the event's audiences.
    package var audiences: [AudienceSelector]?
    /// Whether an activity is started again when its audience gets another channel, for followers whose activity
    /// listened to the old channel. The app must end the old activity.
    package var restarts: Bool

    package init(
        at: Date? = nil, until: Date? = nil, attributesType: String, attributes: [UInt8],
        contentState: [UInt8]? = nil, alert: [UInt8], alertsByLocale: [String: [UInt8]] = [:], staleDate: Date? = nil,
        audiences: [AudienceSelector]? = nil, restarts: Bool = false
    ) {
        self.at = at
        self.until = until
        self.attributesType = attributesType
        self.attributes = attributes
        self.contentState = contentState
        self.alert = alert
        self.alertsByLocale = alertsByLocale
        self.staleDate = staleDate
        self.audiences = audiences
        self.restarts = restarts
    }

    /// Seconds for which late followers get a start when neither `until` nor the event's end gives a limit.
    package static let standardDuration: TimeInterval = 14_400
}

/// The time window in which an event's start is sent.
package struct StartWindow: Sendable, Hashable {
    package var from: Date
    package var until: Date

    /// - Parameter askedAt: when somebody asked for the start by hand, instead of waiting for its time.
    /// - Returns: `nil`: neither the declaration nor the event says when the start is sent.
    package init?(
        _ declaration: StartDeclaration, startsAt: Date?, endsAt: Date?, askedAt: Date? = nil
    ) {
        guard let from = [askedAt, declaration.at ?? startsAt].compactMap(\.self).min() else { return nil }
        self.from = from
        // If a start was requested before its time, its window still ends at the usual time.
        let planned = declaration.at ?? startsAt ?? from
        let standard =
            endsAt.flatMap { $0 > planned ? $0 : nil } ?? planned.addingTimeInterval(StartDeclaration.standardDuration)
        until = declaration.until ?? standard
    }
}
