public import Foundation

extension GrandstandClient {
    /// When an installation showed a message.
    public struct Receipt: Sendable, Hashable, Codable {
        /// The organiser's name for the event.
        public var eventKey: String
        /// aps.timestamp of the message.
        public var timestamp: Int
        /// By the app's clock.
        public var shownAt: Date

        /// What is left out is not said.
        public init(eventKey: String, timestamp: Int, shownAt: Date) {
            self.eventKey = eventKey
            self.timestamp = timestamp
            self.shownAt = shownAt
        }
    }

    /// How many receipts were recorded.
    public struct RecordedReceipts: Sendable, Hashable, Codable {
        /// How many were.
        public var recorded: Int
        /// How many were not.
        public var ignored: Int
    }

    /// What the sampled phones showed of an event, by app and environment.
    public struct EventReceipts: Sendable, Hashable, Codable {
        /// The share of installations that are asked.
        public var share: Double
        /// One for each app and environment.
        public var audiences: [AudienceReceipts]
    }

    /// What one app's sample showed.
    public struct AudienceReceipts: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Installations that are asked and reported an activity of the event.
        public var sample: Int
        /// The newest message of them.
        public var newest: MessageReceipts?
        /// Those that broadcasts made, and of other timestamps the 100 that most showed.
        public var messages: [MessageReceipts]
    }

    /// How soon one message was shown.
    public struct MessageReceipts: Sendable, Hashable, Codable {
        /// aps.timestamp.
        public var timestamp: Int
        /// null: no broadcast known has this timestamp, as the content of a start.
        public var acceptedAt: Date?
        /// How many showed it.
        public var shown: Int
        /// Of these.
        public var clockUnknown: Int
        /// Of these.
        public var shownEarly: Int
        /// From acceptance to the screen.
        public var seconds: Percentiles?
    }

    /// From acceptance to the screen, of the others.
    public struct Percentiles: Sendable, Hashable, Codable {
        /// The median.
        public var p50: Double
        /// Of a hundred, the 95th.
        public var p95: Double
        /// Of a hundred, the 99th.
        public var p99: Double
    }
}
