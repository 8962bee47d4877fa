// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

extension Contract {
    /// Whether APNs could be reached lately.
    public struct APNsReachability: ContractWord {
        /// No request has needed a connection yet.
        public static let unknown = Self(rawValue: "unknown")
        /// APNs answers.
        public static let reachable = Self(rawValue: "reachable")
        /// APNs answers, and refuses the key that reason names.
        public static let refused = Self(rawValue: "refused")
        /// No connection could be made. reason says why.
        public static let unreachable = Self(rawValue: "unreachable")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .unknown,
            .reachable,
            .refused,
            .unreachable,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether this server can take requests.
    public struct ReadinessStatus: ContractWord {
        /// The server can take requests.
        public static let ready = Self(rawValue: "ready")
        /// The server cannot take requests. detail says why.
        public static let notReady = Self(rawValue: "not-ready")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .ready,
            .notReady,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Whether the database can be used.
    public struct DatabaseState: ContractWord {
        /// It answers, takes writes, and has the schema that this server needs.
        public static let ok = Self(rawValue: "ok")
        /// It does not answer, accepts no writes, or has another schema. detail says which.
        public static let unavailable = Self(rawValue: "unavailable")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .ok,
            .unavailable,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What is wrong with the database, by what an operator has to do.
    public struct DatabaseTrouble: ContractWord {
        /// PostgreSQL does not run there, or the network does not reach it.
        public static let unreachable = Self(rawValue: "unreachable")
        /// It refuses the user, the password or the database name, or a grant is missing.
        public static let accessRefused = Self(rawValue: "access-refused")
        /// It has no connection left for this process.
        public static let tooFewConnections = Self(rawValue: "too-few-connections")
        /// Its disk is full.
        public static let diskFull = Self(rawValue: "disk-full")
        /// It has no memory left, or cannot read its disk.
        public static let serverFault = Self(rawValue: "server-fault")
        /// It accepts no writes. It is a standby, or was set to read-only.
        public static let readOnly = Self(rawValue: "read-only")
        /// It waits for a synchronous standby that does not confirm commits.
        public static let standbyAway = Self(rawValue: "standby-away")
        /// It is connected, and does not answer in time.
        public static let slow = Self(rawValue: "slow")
        /// Its schema is not one that this server can use.
        public static let schema = Self(rawValue: "schema")
        /// This machine's clock and the database's differ.
        public static let clockOff = Self(rawValue: "clock-off")

        /// The values that this version knows.
        public static let allCases: [Self] = [
            .unreachable,
            .accessRefused,
            .tooFewConnections,
            .diskFull,
            .serverFault,
            .readOnly,
            .standbyAway,
            .slow,
            .schema,
            .clockOff,
        ]

        /// The value in JSON.
        public let rawValue: String

        /// Any value. A newer server may send others than the known ones.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The process runs.
    public struct Health: Sendable, Hashable, Codable, ContractObject {
        /// Always ok.
        public var status: String

        /// Members that are `nil` are left out.
        public init(status: String) {
            self.status = status
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            status = try object.required("status")
        }

        package func write(members object: inout JSONWriter) {
            object.member("status", status)
        }
    }

    /// Whether the server can take requests.
    public struct Readiness: Sendable, Hashable, Codable, ContractObject {
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

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            status = try object.required("status")
            database = try object.required("database")
            trouble = try object.optional("trouble")
            detail = try object.optional("detail")
            apns = try object.required("apns")
        }

        package func write(members object: inout JSONWriter) {
            object.member("status", status.rawValue)
            object.member("database", database.rawValue)
            object.member("trouble", trouble?.rawValue)
            object.member("detail", detail)
            object.member("apns", apns)
        }
    }

    /// Whether APNs was reached lately. It does not affect readiness, because accepted messages wait for APNs.
    public struct APNsReadiness: Sendable, Hashable, Codable, ContractObject {
        /// Whether one environment of APNs was reached lately.
        public var development: APNsState
        /// Whether one environment of APNs was reached lately.
        public var production: APNsState

        /// Members that are `nil` are left out.
        public init(development: APNsState, production: APNsState) {
            self.development = development
            self.production = production
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            development = try object.required("development")
            production = try object.required("production")
        }

        package func write(members object: inout JSONWriter) {
            object.member("development", development)
            object.member("production", production)
        }
    }

    /// Whether one environment of APNs was reached lately.
    public struct APNsState: Sendable, Hashable, Codable, ContractObject {
        /// Whether APNs could be reached lately.
        public var state: APNsReachability
        /// Why it cannot be reached, or which key it refuses.
        public var reason: String?

        /// Members that are `nil` are left out.
        public init(state: APNsReachability, reason: String? = nil) {
            self.state = state
            self.reason = reason
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            state = try object.required("state")
            reason = try object.optional("reason")
        }

        package func write(members object: inout JSONWriter) {
            object.member("state", state.rawValue)
            object.member("reason", reason)
        }
    }
}
