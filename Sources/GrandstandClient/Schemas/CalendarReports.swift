public import Foundation

extension GrandstandClient {
    /// What a sync does, or would do.
    public struct CalendarReport: Sendable, Hashable, Codable {
        /// What is made.
        public var create: [CalendarEvent]
        /// What is changed.
        public var change: [CalendarEvent]
        /// What is cancelled.
        public var cancel: [CalendarEvent]
        /// What stays as it is.
        public var unchanged: Int
        /// Entries that were over.
        public var past: Int
        /// Entries that were not taken; all others were.
        public var problems: [CalendarProblem]
        /// How many channels there will be.
        public var forecast: CalendarForecast
    }

    /// An event as a sync makes, changes or cancels it.
    public struct CalendarEvent: Sendable, Hashable, Codable {
        /// The organiser's name for the event.
        public var eventKey: String
        /// The entry's ID in the file.
        public var uid: String
        /// What people know it by.
        public var name: String
        /// When it is planned to start.
        public var startsAt: Date?
        /// Of one that changes: the old and the new value of each member.
        public var fields: [String: [RawJSON]]?
        /// Of one that is cancelled.
        public var reason: CalendarCancellation?
    }

    /// An entry of a file that was not taken.
    public struct CalendarProblem: Sendable, Hashable, Codable {
        /// The file's line.
        public var line: Int?
        /// What is the matter, in words.
        public var detail: String
        /// The entry's ID in the file.
        public var uid: String?
    }

    /// Of each app and environment of the calendar, without and with what changes.
    public struct CalendarForecast: Sendable, Hashable, Codable {
        /// As it is.
        public var before: [AppForecast]
        /// With what changes.
        public var after: [AppForecast]
    }

    /// The forecast of one app in one environment.
    public struct AppForecast: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Places for channels of ours: the app's channelLimit, or what unmanaged ones leave of Apple's 10,000.
        public var limit: Int
        /// Channels that Apple has and the ledger does not know.
        public var unmanaged: Int
        /// Channels at the peak.
        public var peak: Int
        /// When the peak is.
        public var peakAt: Date
        /// When the limit is exceeded, if it is.
        public var exceedsAt: Date?
    }

    /// The alarm calendar-shrunk, while it stands. More than a third of a calendar's events to come vanished from it
    /// at once, and none was cancelled for that.
    public struct CalendarShrunk: Sendable, Hashable, Codable {
        /// The calendar's name.
        public var calendar: String
        /// Events that vanished from it.
        public var vanished: Int
        /// Events that were to come.
        public var future: Int
        /// Since when it stands.
        public var since: Date
        /// What to do about it.
        public var remedy: String
    }
}
