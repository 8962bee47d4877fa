extension GrandstandClient {
    /// The whole state of an installation; what is left out is not so any more.
    public struct InstallationDraft: Sendable, Hashable, Codable {
        /// Rises with every change.
        public var sequence: Int?
        /// The system's version, e.g. 18.4.
        public var systemVersion: String
        /// The app's version.
        public var appVersion: String?
        /// A BCP 47 tag, e.g. de-AT.
        public var locale: String?
        /// The time zone, e.g. Europe/Vienna.
        public var timeZone: String?
        /// Whether Live Activities are switched on.
        public var liveActivitiesEnabled: Bool?
        /// Whether frequent pushes are switched on.
        public var frequentPushesEnabled: Bool?
        /// Push-to-start tokens.
        public var startTokens: [StartTokenDraft]?
        /// What it follows, 200 at most.
        public var topics: [String]?

        /// What is left out is not said.
        public init(
            sequence: Int? = nil, systemVersion: String, appVersion: String? = nil, locale: String? = nil,
            timeZone: String? = nil, liveActivitiesEnabled: Bool? = nil, frequentPushesEnabled: Bool? = nil,
            startTokens: [StartTokenDraft]? = nil, topics: [String]? = nil
        ) {
            self.sequence = sequence
            self.systemVersion = systemVersion
            self.appVersion = appVersion
            self.locale = locale
            self.timeZone = timeZone
            self.liveActivitiesEnabled = liveActivitiesEnabled
            self.frequentPushesEnabled = frequentPushesEnabled
            self.startTokens = startTokens
            self.topics = topics
        }
    }

    /// A push-to-start token of one type of attributes.
    public struct StartTokenDraft: Sendable, Hashable, Codable {
        /// One token for each.
        public var attributesType: String
        /// The token, in hexadecimal digits.
        public var token: String

        /// What is left out is not said.
        public init(attributesType: String, token: String) {
            self.attributesType = attributesType
            self.token = token
        }
    }

    /// The answer to a registration or a report.
    public struct Registered: Sendable, Hashable, Codable {
        /// The UUID that the app made.
        public var installationId: String
        /// The share of installations that are asked for receipts.
        public var receipts: Double
        /// Whether this one is.
        public var sampled: Bool
    }

    /// An installation as the server knows it.
    public struct Installation: Sendable, Hashable, Codable {
        /// The UUID that the app made.
        public var installationId: String
        /// The share of installations that are asked for receipts.
        public var receipts: Double
        /// Whether this one is asked.
        public var sampled: Bool
        /// Rises with every change.
        public var sequence: Int?
        /// The system's version, e.g. 18.4.
        public var systemVersion: String
        /// The app's version.
        public var appVersion: String?
        /// A BCP 47 tag, e.g. de-AT.
        public var locale: String?
        /// The time zone, e.g. Europe/Vienna.
        public var timeZone: String?
        /// Whether Live Activities are switched on.
        public var liveActivitiesEnabled: Bool
        /// Whether frequent pushes are switched on.
        public var frequentPushesEnabled: Bool
        /// Push-to-start tokens.
        public var startTokens: [StartToken]
        /// What it follows.
        public var topics: [String]
        /// Live Activities that it reported.
        public var activities: [Activity]
    }

    /// A push-to-start token as the server knows it.
    public struct StartToken: Sendable, Hashable, Codable {
        /// The name of the type of its attributes.
        public var attributesType: String
        /// Its last six digits.
        public var token: String
        /// APNs refused it; it is not used until it is registered again.
        public var suspect: Bool
    }

    /// What an app reports of a Live Activity that it shows.
    public struct ActivityDraft: Sendable, Hashable, Codable {
        /// The organiser's name for the event.
        public var eventKey: String
        /// The name of the type of its attributes.
        public var attributesType: String
        /// How far it has come.
        public var state: ActivityState
        /// Its update token, in hexadecimal digits.
        public var updateToken: String?
        /// Apple's ID of the channel, as it is.
        public var channelId: String?

        /// What is left out is not said.
        public init(
            eventKey: String, attributesType: String, state: ActivityState, updateToken: String? = nil,
            channelId: String? = nil
        ) {
            self.eventKey = eventKey
            self.attributesType = attributesType
            self.state = state
            self.updateToken = updateToken
            self.channelId = channelId
        }
    }

    /// A Live Activity that an installation reported; of its token there are the last six digits.
    public typealias Activity = Joined<ActivityDraft, ActivityName>

    /// Which activity.
    public struct ActivityName: Sendable, Hashable, Codable {
        /// ActivityKit's ID of it.
        public var activityId: String
    }
}
