// Generated from openapi.yaml by `make contract`. Do not edit.

extension Contract {
    /// The state of a Live Activity, as ActivityKit reports it to the app.
    public enum ActivityState: ContractWord {
        /// It is shown.
        case active
        /// It is shown and marked as out of date.
        case stale
        /// It is over and may still be visible.
        case ended
        /// It is no longer visible.
        case dismissed
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.active, .stale, .ended, .dismissed]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .active: "active"
            case .stale: "stale"
            case .ended: "ended"
            case .dismissed: "dismissed"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// The whole state of an installation. A member that is left out is cleared.
    public struct InstallationDraft: Codable, Sendable, Hashable {
        /// Rises with every change, so that of two requests that overtake each other the newer one holds. Left out, the
        /// last to arrive holds.
        public var sequence: Int?
        /// The version of iOS or iPadOS. The first two numbers count.
        public var systemVersion: String
        /// The app's version.
        public var appVersion: String?
        /// The user's locale as a BCP 47 tag. It chooses the alert of a start, and the variant where none is named.
        public var locale: String?
        /// The variant of events that this user wants to see, for example home. Events without it show the one that
        /// locale chooses.
        public var variant: String?
        /// The user's time zone, by its name in the tz database.
        public var timeZone: String?
        /// Whether the user allows Live Activities.
        public var liveActivitiesEnabled: Bool?
        /// Whether the user allows frequent pushes. Who does not gets fewer updates by token.
        public var frequentPushesEnabled: Bool?
        /// Push-to-start tokens, one for each type of attributes.
        public var startTokens: [StartTokenDraft]?
        /// What the user follows. Twice the same counts once.
        public var topics: [String]?

        /// Members that are `nil` are left out.
        public init(
            sequence: Int? = nil, systemVersion: String, appVersion: String? = nil, locale: String? = nil,
            variant: String? = nil, timeZone: String? = nil, liveActivitiesEnabled: Bool? = nil,
            frequentPushesEnabled: Bool? = nil, startTokens: [StartTokenDraft]? = nil, topics: [String]? = nil
        ) {
            self.sequence = sequence
            self.systemVersion = systemVersion
            self.appVersion = appVersion
            self.locale = locale
            self.variant = variant
            self.timeZone = timeZone
            self.liveActivitiesEnabled = liveActivitiesEnabled
            self.frequentPushesEnabled = frequentPushesEnabled
            self.startTokens = startTokens
            self.topics = topics
        }
    }

    /// A push-to-start token.
    public struct StartTokenDraft: Codable, Sendable, Hashable {
        /// The name of the app's Swift type of attributes. A type has one token.
        public var attributesType: String
        /// A push token in hexadecimal digits. The server never logs it.
        public var token: String

        /// Members that are `nil` are left out.
        public init(attributesType: String, token: String) {
            self.attributesType = attributesType
            self.token = token
        }
    }

    /// The answer to a registration or a report.
    public struct Registered: Codable, Sendable, Hashable {
        /// The UUID that the app made.
        public var installationId: String

        /// Members that are `nil` are left out.
        public init(installationId: String) {
            self.installationId = installationId
        }
    }

    /// An installation as its own app sees it.
    public struct Installation: Codable, Sendable, Hashable, ContractAnswer {
        /// The UUID that the app made.
        public var installationId: String
        /// The newest that was sent. null: none was.
        public var sequence: Int?
        /// The version of iOS or iPadOS. The first two numbers count.
        public var systemVersion: String
        /// The app's version.
        public var appVersion: String?
        /// The user's locale as a BCP 47 tag.
        public var locale: String?
        /// The variant of events that it named. null: none.
        public var variant: String?
        /// The name of the user's time zone.
        public var timeZone: String?
        /// Whether the user allows Live Activities.
        public var liveActivitiesEnabled: Bool
        /// Whether the user allows frequent pushes.
        public var frequentPushesEnabled: Bool
        /// Its push-to-start tokens, by type of attributes.
        public var startTokens: [StartToken]
        /// What the user follows.
        public var topics: [String]
        /// The activities that it reported.
        public var activities: [Activity]

        /// Members that are `nil` are left out.
        public init(
            installationId: String, sequence: Int? = nil, systemVersion: String, appVersion: String? = nil,
            locale: String? = nil, variant: String? = nil, timeZone: String? = nil, liveActivitiesEnabled: Bool,
            frequentPushesEnabled: Bool, startTokens: [StartToken], topics: [String], activities: [Activity]
        ) {
            self.installationId = installationId
            self.sequence = sequence
            self.systemVersion = systemVersion
            self.appVersion = appVersion
            self.locale = locale
            self.variant = variant
            self.timeZone = timeZone
            self.liveActivitiesEnabled = liveActivitiesEnabled
            self.frequentPushesEnabled = frequentPushesEnabled
            self.startTokens = startTokens
            self.topics = topics
            self.activities = activities
        }
    }

    /// A push-to-start token as the server knows it.
    public struct StartToken: Codable, Sendable, Hashable {
        /// The name of the app's Swift type of attributes.
        public var attributesType: String
        /// The last six digits of it.
        public var token: String
        /// true: APNs refused it. It is not used until it is registered again.
        public var suspect: Bool

        /// Members that are `nil` are left out.
        public init(attributesType: String, token: String, suspect: Bool) {
            self.attributesType = attributesType
            self.token = token
            self.suspect = suspect
        }
    }

    /// What an app reports of a Live Activity.
    public struct ActivityDraft: Codable, Sendable, Hashable {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// The name of the app's Swift type of attributes.
        public var attributesType: String
        /// The state of a Live Activity, as ActivityKit reports it to the app.
        public var state: ActivityState
        /// Its update token in hexadecimal digits. Left out, it stays as it was.
        public var updateToken: String?
        /// Apple's ID of the channel that it listens to. Left out, it stays as it was.
        public var channelId: String?
        /// Which of the event's variants it shows: its update token gets the messages of that one. Left out in the
        /// first report, it is the one that a start would choose for the installation; left out later, it stays as it
        /// was.
        public var variant: String?

        /// Members that are `nil` are left out.
        public init(
            eventKey: String, attributesType: String, state: ActivityState, updateToken: String? = nil,
            channelId: String? = nil, variant: String? = nil
        ) {
            self.eventKey = eventKey
            self.attributesType = attributesType
            self.state = state
            self.updateToken = updateToken
            self.channelId = channelId
            self.variant = variant
        }
    }

    /// A Live Activity that an installation reported.
    public struct Activity: Codable, Sendable, Hashable, ContractAnswer {
        /// ActivityKit's ID of it.
        public var activityId: String
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// The name of the app's Swift type of attributes.
        public var attributesType: String
        /// The state of a Live Activity, as ActivityKit reports it to the app.
        public var state: ActivityState
        /// The last six digits of its update token. null: none was reported.
        public var updateToken: String?
        /// Apple's ID of the channel that it listens to. null: none was reported.
        public var channelId: String?

        /// Members that are `nil` are left out.
        public init(
            activityId: String, eventKey: String, attributesType: String, state: ActivityState,
            updateToken: String? = nil, channelId: String? = nil
        ) {
            self.activityId = activityId
            self.eventKey = eventKey
            self.attributesType = attributesType
            self.state = state
            self.updateToken = updateToken
            self.channelId = channelId
        }
    }

    /// Statistics of an app's installations in one environment.
    public struct InstallationStatistics: Codable, Sendable, Hashable {
        /// How many there are.
        public var installations: Int
        /// How many, by major version of the system.
        public var systems: [String: Int]
        /// How many, by language; the 100 most frequent.
        public var locales: [String: Int]
        /// How many do not allow Live Activities.
        public var liveActivitiesDisabled: Int
        /// How many do not allow frequent pushes.
        public var frequentPushesDisabled: Int
        /// Push-to-start tokens by type of attributes; the 100 most frequent.
        public var startTokens: [String: RegisteredTokens]
        /// Counts of tokens.
        public var updateTokens: RegisteredTokens

        /// Members that are `nil` are left out.
        public init(
            installations: Int, systems: [String: Int], locales: [String: Int], liveActivitiesDisabled: Int,
            frequentPushesDisabled: Int, startTokens: [String: RegisteredTokens], updateTokens: RegisteredTokens
        ) {
            self.installations = installations
            self.systems = systems
            self.locales = locales
            self.liveActivitiesDisabled = liveActivitiesDisabled
            self.frequentPushesDisabled = frequentPushesDisabled
            self.startTokens = startTokens
            self.updateTokens = updateTokens
        }
    }

    /// Counts of tokens.
    public struct RegisteredTokens: Codable, Sendable, Hashable {
        /// Tokens that are used.
        public var active: Int
        /// Tokens that APNs refused. They are not used until they are registered again.
        public var suspect: Int

        /// Members that are `nil` are left out.
        public init(active: Int, suspect: Int) {
            self.active = active
            self.suspect = suspect
        }
    }
}
