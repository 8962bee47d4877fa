public import Foundation

extension GrandstandClient {
    /// How much of an app's limit is taken in one environment.
    public struct Quota: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Channels at most.
        public var limit: Int
        /// Places taken.
        public var used: Int
        /// Places held for what is being made.
        public var reserved: Int
        /// Places that are free now. Channels that are only kept for a while give theirs up when it is needed, so a
        /// creation may succeed at 0.
        public var available: Int
        /// Channels by state; deleted ones are not counted.
        public var byState: [String: Int]
        /// Channels by storage policy.
        public var byStoragePolicy: [String: Int]
        /// How many channels Apple lists.
        public var apple: AppleCount?
        /// Channels that Apple has and the ledger does not know.
        public var unmanaged: Int
        /// Channels of the ledger that Apple does not know.
        public var missing: Int
        /// Of what is held and until when, and of what events will open, if each ends at its endsAt and no other
        /// message comes. Never below used and reserved together.
        public var forecast: Forecast
        /// How urgent it is.
        public var level: QuotaLevel
        /// The gravest of those that stand.
        public var alarm: Alarm?
        /// The alarm tokens-refused, while it stands.
        public var tokensRefused: TokensRefused?
        /// Calendars that lost more than a third of their events at once.
        public var shrunkCalendars: [CalendarShrunk]
    }

    /// The alarm tokens-refused, while it stands, also beside a graver one. APNs refuses many device tokens, so the
    /// mistake is not each phone's.
    public struct TokensRefused: Sendable, Hashable, Codable {
        /// Apple's, of the last refusal: BadDeviceToken or DeviceTokenNotForTopic.
        public var reason: String
        /// Answers since then that refused a token so.
        public var refused: Int
        /// Those and the acceptances.
        public var answers: Int
        /// The minute in which it began.
        public var since: Date
        /// What is likely the matter.
        public var cause: String
        /// What to do about it.
        public var remedy: String
    }

    /// How many channels Apple listed, and when.
    public struct AppleCount: Sendable, Hashable, Codable {
        /// How many.
        public var count: Int
        /// When.
        public var at: Date
    }

    /// How many channels there will be, from what is declared.
    public struct Forecast: Sendable, Hashable, Codable {
        /// Channels at the peak.
        public var peak: Int
        /// When the peak is.
        public var peakAt: Date?
        /// When the limit is exceeded, if it is.
        public var exceedsAt: Date?
    }
}
