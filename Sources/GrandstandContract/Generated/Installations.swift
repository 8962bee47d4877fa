// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

extension Contract {
    /// The state of a Live Activity, as ActivityKit reports it to the app.
    public struct ActivityState: ContractWord {
        /// It is shown.
        public static let active = Self(rawValue: "active")
        /// It is shown and marked as out of date.
        public static let stale = Self(rawValue: "stale")
        /// It is over and may still be visible.
        public static let ended = Self(rawValue: "ended")
        /// It is no longer visible.
        public static let dismissed = Self(rawValue: "dismissed")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .active,
            .stale,
            .ended,
            .dismissed,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The whole state of an installation. A member that is left out is cleared.
    public struct InstallationDraft: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            sequence = try object.optional("sequence")
            systemVersion = try object.required("systemVersion")
            appVersion = try object.optional("appVersion")
            locale = try object.optional("locale")
            variant = try object.optional("variant")
            timeZone = try object.optional("timeZone")
            liveActivitiesEnabled = try object.optional("liveActivitiesEnabled")
            frequentPushesEnabled = try object.optional("frequentPushesEnabled")
            startTokens = try object.optional("startTokens")
            topics = try object.optional("topics")
        }

        package func write(members object: inout JSONWriter) {
            if let sequence { object.member("sequence", sequence) }
            object.member("systemVersion", systemVersion)
            if let appVersion { object.member("appVersion", appVersion) }
            if let locale { object.member("locale", locale) }
            if let variant { object.member("variant", variant) }
            if let timeZone { object.member("timeZone", timeZone) }
            if let liveActivitiesEnabled { object.member("liveActivitiesEnabled", liveActivitiesEnabled) }
            if let frequentPushesEnabled { object.member("frequentPushesEnabled", frequentPushesEnabled) }
            if let startTokens { object.member("startTokens", startTokens) }
            if let topics { object.member("topics", topics) }
        }
    }

    /// A push-to-start token.
    public struct StartTokenDraft: Sendable, Hashable, Codable, ContractObject {
        /// The name of the app's Swift type of attributes. A type has one token.
        public var attributesType: String
        /// A push token in hexadecimal digits. The server never logs it.
        public var token: String

        /// Members that are `nil` are left out.
        public init(attributesType: String, token: String) {
            self.attributesType = attributesType
            self.token = token
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            attributesType = try object.required("attributesType")
            token = try object.required("token")
        }

        package func write(members object: inout JSONWriter) {
            object.member("attributesType", attributesType)
            object.member("token", token)
        }
    }

    /// The answer to a registration or a report.
    public struct Registered: Sendable, Hashable, Codable, ContractObject {
        /// The UUID that the app made.
        public var installationId: String

        /// Members that are `nil` are left out.
        public init(installationId: String) {
            self.installationId = installationId
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            installationId = try object.required("installationId")
        }

        package func write(members object: inout JSONWriter) {
            object.member("installationId", installationId)
        }
    }

    /// An installation as its own app sees it.
    public struct Installation: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            installationId = try object.required("installationId")
            sequence = try object.optional("sequence")
            systemVersion = try object.required("systemVersion")
            appVersion = try object.optional("appVersion")
            locale = try object.optional("locale")
            variant = try object.optional("variant")
            timeZone = try object.optional("timeZone")
            liveActivitiesEnabled = try object.required("liveActivitiesEnabled")
            frequentPushesEnabled = try object.required("frequentPushesEnabled")
            startTokens = try object.required("startTokens")
            topics = try object.required("topics")
            activities = try object.required("activities")
        }

        package func write(members object: inout JSONWriter) {
            object.member("installationId", installationId)
            object.member("sequence", sequence)
            object.member("systemVersion", systemVersion)
            object.member("appVersion", appVersion)
            object.member("locale", locale)
            object.member("variant", variant)
            object.member("timeZone", timeZone)
            object.member("liveActivitiesEnabled", liveActivitiesEnabled)
            object.member("frequentPushesEnabled", frequentPushesEnabled)
            object.member("startTokens", startTokens)
            object.member("topics", topics)
            object.member("activities", activities)
        }
    }

    /// A push-to-start token as the server knows it.
    public struct StartToken: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            attributesType = try object.required("attributesType")
            token = try object.required("token")
            suspect = try object.required("suspect")
        }

        package func write(members object: inout JSONWriter) {
            object.member("attributesType", attributesType)
            object.member("token", token)
            object.member("suspect", suspect)
        }
    }

    /// What an app reports of a Live Activity.
    public struct ActivityDraft: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            attributesType = try object.required("attributesType")
            state = try object.required("state")
            updateToken = try object.optional("updateToken")
            channelId = try object.optional("channelId")
            variant = try object.optional("variant")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("attributesType", attributesType)
            object.member("state", state.rawValue)
            if let updateToken { object.member("updateToken", updateToken) }
            if let channelId { object.member("channelId", channelId) }
            if let variant { object.member("variant", variant) }
        }
    }

    /// A Live Activity that an installation reported.
    public struct Activity: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            activityId = try object.required("activityId")
            eventKey = try object.required("eventKey")
            attributesType = try object.required("attributesType")
            state = try object.required("state")
            updateToken = try object.optional("updateToken")
            channelId = try object.optional("channelId")
        }

        package func write(members object: inout JSONWriter) {
            object.member("activityId", activityId)
            object.member("eventKey", eventKey)
            object.member("attributesType", attributesType)
            object.member("state", state.rawValue)
            object.member("updateToken", updateToken)
            object.member("channelId", channelId)
        }
    }

    /// Statistics of an app's installations in one environment.
    public struct InstallationStatistics: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            installations = try object.required("installations")
            systems = try object.required("systems")
            locales = try object.required("locales")
            liveActivitiesDisabled = try object.required("liveActivitiesDisabled")
            frequentPushesDisabled = try object.required("frequentPushesDisabled")
            startTokens = try object.required("startTokens")
            updateTokens = try object.required("updateTokens")
        }

        package func write(members object: inout JSONWriter) {
            object.member("installations", installations)
            object.member("systems", systems)
            object.member("locales", locales)
            object.member("liveActivitiesDisabled", liveActivitiesDisabled)
            object.member("frequentPushesDisabled", frequentPushesDisabled)
            object.member("startTokens", startTokens)
            object.member("updateTokens", updateTokens)
        }
    }

    /// Counts of tokens.
    public struct RegisteredTokens: Sendable, Hashable, Codable, ContractObject {
        /// Tokens that are used.
        public var active: Int
        /// Tokens that APNs refused. They are not used until they are registered again.
        public var suspect: Int

        /// Members that are `nil` are left out.
        public init(active: Int, suspect: Int) {
            self.active = active
            self.suspect = suspect
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            active = try object.required("active")
            suspect = try object.required("suspect")
        }

        package func write(members object: inout JSONWriter) {
            object.member("active", active)
            object.member("suspect", suspect)
        }
    }
}
