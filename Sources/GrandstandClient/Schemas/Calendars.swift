public import Foundation

extension GrandstandClient {
    /// What declares a calendar; docs/calendars.md describes files, templates and columns.
    public struct CalendarDraft: Sendable, Hashable, Codable {
        /// How its file is written.
        public var format: CalendarFormat
        /// Where the file is fetched: under the rules of webhooks (GRANDSTAND_WEBHOOK_NETWORKS,
        /// GRANDSTAND_WEBHOOK_HTTP, GRANDSTAND_WEBHOOK_TIMEOUT).
        public var url: String?
        /// Seconds between two times that the server fetches and syncs it by itself.
        public var refreshEvery: Int?
        /// Of times that say none, such as Europe/Vienna; without it X-WR-TIMEZONE of the file, or UTC.
        public var timeZone: String?
        /// A template with a name in it: {uid}, {home}, {away} or any column or property. An entry that was synced
        /// keeps its event's key.
        public var eventKey: String
        /// A template; {summary} without it.
        public var name: String?
        /// A word for filtering, e.g. football.
        public var kind: String?
        /// Templates.
        public var topics: [String]?
        /// Which column (CSV), property (iCalendar) or template each name is from.
        public var columns: [String: String?]?
        /// How dates of a CSV file are written; ISO 8601 is read whatever it says.
        public var datePattern: DatePattern?
        /// Seconds an event takes whose end the file does not say.
        public var defaultDuration: Int?
        /// As of an event.
        public var channelsOpenBefore: Int?
        /// As of an event.
        public var audiences: [Audience]
        /// As of an event; its texts are templates.
        public var start: StartDraft?
        /// As of an event.
        public var defaults: EventDefaults?

        /// What is left out is not said.
        public init(
            format: CalendarFormat, url: String? = nil, refreshEvery: Int? = nil, timeZone: String? = nil,
            eventKey: String, name: String? = nil, kind: String? = nil, topics: [String]? = nil,
            columns: [String: String?]? = nil, datePattern: DatePattern? = nil, defaultDuration: Int? = nil,
            channelsOpenBefore: Int? = nil, audiences: [Audience], start: StartDraft? = nil,
            defaults: EventDefaults? = nil
        ) {
            self.format = format
            self.url = url
            self.refreshEvery = refreshEvery
            self.timeZone = timeZone
            self.eventKey = eventKey
            self.name = name
            self.kind = kind
            self.topics = topics
            self.columns = columns
            self.datePattern = datePattern
            self.defaultDuration = defaultDuration
            self.channelsOpenBefore = channelsOpenBefore
            self.audiences = audiences
            self.start = start
            self.defaults = defaults
        }
    }

    /// A calendar, as it was declared, and what became of it.
    public typealias Calendar = Joined<CalendarDraft, CalendarStanding>

    /// What became of a calendar.
    public struct CalendarStanding: Sendable, Hashable, Codable {
        /// Its name.
        public var calendar: String
        /// How the last sync went.
        public var lastSync: CalendarSync?
        /// When the server fetches it by itself.
        public var nextRefreshAt: Date?
        /// Why the last file was not taken that the server fetched; it is fetched again within five minutes.
        public var failure: String?
        /// The alarm that stands, if one does.
        public var alarm: Alarm?
        /// When it was made.
        public var createdAt: Date
        /// When it was changed last.
        public var updatedAt: Date
    }

    /// The last sync in numbers.
    public struct CalendarSync: Sendable, Hashable, Codable {
        /// When.
        public var at: Date
        /// Who asked for it.
        public var by: String
        /// What is made.
        public var create: Int
        /// What is changed.
        public var change: Int
        /// What is cancelled.
        public var cancel: Int
        /// What stays as it is.
        public var unchanged: Int
        /// Entries that were not taken.
        public var problems: Int
    }
}
