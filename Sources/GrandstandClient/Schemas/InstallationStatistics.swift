extension GrandstandClient {
    /// Numbers of an app's installations.
    public struct InstallationStatistics: Sendable, Hashable, Codable {
        /// How many there are.
        public var installations: Int
        /// By major version.
        public var systems: [String: Int]
        /// By language; the 100 most frequent.
        public var locales: [String: Int]
        /// Of these, with Live Activities switched off.
        public var liveActivitiesDisabled: Int
        /// Of these, with frequent pushes switched off.
        public var frequentPushesDisabled: Int
        /// By type of attributes; the 100 most frequent.
        public var startTokens: [String: RegisteredTokens]
        /// Tokens that update activities.
        public var updateTokens: RegisteredTokens
    }

    /// Tokens in numbers.
    public struct RegisteredTokens: Sendable, Hashable, Codable {
        /// Tokens in use.
        public var active: Int
        /// APNs refused them; not used until they are registered again.
        public var suspect: Int
    }
}
