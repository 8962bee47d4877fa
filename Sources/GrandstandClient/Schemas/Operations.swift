extension GrandstandClient {
    /// Whether the process runs.
    public struct Health: Sendable, Hashable, Codable {
        /// The status.
        public var status: String
    }

    /// Whether the database is reachable, takes writes, and is migrated.
    public struct Readiness: Sendable, Hashable, Codable {
        /// The status.
        public var status: String
        /// Whether the database answers.
        public var database: String
        /// What is the matter, in words.
        public var detail: String?
        /// How APNs was reached lately. Told, not required.
        public var apns: APNsReadiness
    }

    /// How APNs was reached lately. Told, not required.
    public struct APNsReadiness: Sendable, Hashable, Codable {
        /// Of APNs' development environment.
        public var development: APNsState
        /// Of APNs' production environment.
        public var production: APNsState
    }

    /// How APNs was reached lately, in one environment.
    public struct APNsState: Sendable, Hashable, Codable {
        /// How far it has come.
        public var state: Reachability
        /// Why, in a word of Apple's or of the server's.
        public var reason: String?
    }
}
