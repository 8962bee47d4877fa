public import Foundation

extension GrandstandClient {
    /// Apple's list of channels against the ledger.
    public struct Reconciliation: Sendable, Hashable, Codable {
        /// The server's ID of it.
        public var id: String
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// Who did it.
        public var actor: String
        /// When it began.
        public var startedAt: Date
        /// When it was done.
        public var finishedAt: Date?
        /// Whether it acted.
        public var applied: Bool
        /// How many channels Apple lists.
        public var apple: Int?
        /// How many channels the ledger has.
        public var ledger: Int
        /// How many are in both.
        public var matched: Int
        /// What is not there.
        public var missing: [RawJSON]
        /// Channels that Apple has and the ledger does not know.
        public var unmanaged: [RawJSON]
        /// What was done.
        public var actions: [RawJSON]
        /// The alarm that stands, if one does.
        public var alarm: String?
        /// What should be known besides.
        public var notes: [String]
    }
}
