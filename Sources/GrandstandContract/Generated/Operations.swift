// Generated from openapi.yaml by `make contract`. Do not edit.

extension Contract {
    /// Whether APNs could be reached lately.
    public enum APNsReachability: ContractWord {
        /// No request has needed a connection yet.
        case notKnown
        /// APNs answers.
        case reachable
        /// APNs answers, and refuses the key that reason names.
        case refused
        /// No connection could be made. reason says why.
        case unreachable
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.notKnown, .reachable, .refused, .unreachable]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .notKnown: "unknown"
            case .reachable: "reachable"
            case .refused: "refused"
            case .unreachable: "unreachable"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// Whether this server can take requests.
    public enum ReadinessStatus: ContractWord {
        /// The server can take requests.
        case ready
        /// The server cannot take requests. detail says why.
        case notReady
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.ready, .notReady]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .ready: "ready"
            case .notReady: "not-ready"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// Whether the database can be used.
    public enum DatabaseState: ContractWord {
        /// It answers, takes writes, and has the schema that this server needs.
        case ok
        /// It does not answer, accepts no writes, or has another schema. detail says which.
        case unavailable
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.ok, .unavailable]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .ok: "ok"
            case .unavailable: "unavailable"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// What is wrong with the database, by what an operator has to do.
    public enum DatabaseTrouble: ContractWord {
        /// PostgreSQL does not run there, or the network does not reach it.
        case unreachable
        /// It refuses the user, the password or the database name, or a grant is missing.
        case accessRefused
        /// It has no connection left for this process.
        case tooFewConnections
        /// Its disk is full.
        case diskFull
        /// It has no memory left, or cannot read its disk.
        case serverFault
        /// It accepts no writes. It is a standby, or was set to read-only.
        case readOnly
        /// It waits for a synchronous standby that does not confirm commits.
        case standbyAway
        /// It is connected, and does not answer in time.
        case slow
        /// Its schema is not one that this server can use.
        case schema
        /// This machine's clock and the database's differ.
        case clockOff
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [
            .unreachable, .accessRefused, .tooFewConnections, .diskFull, .serverFault, .readOnly, .standbyAway, .slow,
            .schema, .clockOff,
        ]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .unreachable: "unreachable"
            case .accessRefused: "access-refused"
            case .tooFewConnections: "too-few-connections"
            case .diskFull: "disk-full"
            case .serverFault: "server-fault"
            case .readOnly: "read-only"
            case .standbyAway: "standby-away"
            case .slow: "slow"
            case .schema: "schema"
            case .clockOff: "clock-off"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// The process runs.
    public struct Health: Codable, Sendable, Hashable {
        /// Always ok.
        public var status: String

        /// Members that are `nil` are left out.
        public init(status: String) {
            self.status = status
        }
    }

    /// Whether the server can take requests.
    public struct Readiness: Codable, Sendable, Hashable, ContractAnswer {
        /// Whether this server can take requests.
        public var status: ReadinessStatus
        /// Whether the database can be used.
        public var database: DatabaseState
        /// The present trouble, also if requests are still served.
        public var trouble: DatabaseTrouble?
        /// What is wrong and what to do, in words.
        public var detail: String?
        /// Whether APNs was reached lately. It does not affect readiness, because accepted messages wait for APNs.
        public var apns: APNsReadiness

        /// Members that are `nil` are left out.
        public init(
            status: ReadinessStatus, database: DatabaseState, trouble: DatabaseTrouble? = nil, detail: String? = nil,
            apns: APNsReadiness
        ) {
            self.status = status
            self.database = database
            self.trouble = trouble
            self.detail = detail
            self.apns = apns
        }
    }

    /// Whether APNs was reached lately. It does not affect readiness, because accepted messages wait for APNs.
    public struct APNsReadiness: Codable, Sendable, Hashable {
        /// Whether one environment of APNs was reached lately.
        public var development: APNsState
        /// Whether one environment of APNs was reached lately.
        public var production: APNsState

        /// Members that are `nil` are left out.
        public init(development: APNsState, production: APNsState) {
            self.development = development
            self.production = production
        }
    }

    /// Whether one environment of APNs was reached lately.
    public struct APNsState: Codable, Sendable, Hashable, ContractAnswer {
        /// Whether APNs could be reached lately.
        public var state: APNsReachability
        /// Why it cannot be reached, or which key it refuses.
        public var reason: String?

        /// Members that are `nil` are left out.
        public init(state: APNsReachability, reason: String? = nil) {
            self.state = state
            self.reason = reason
        }
    }
}
