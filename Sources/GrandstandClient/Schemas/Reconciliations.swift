public import Foundation

extension GrandstandClient {
    /// What a reconciliation may do; without `apply` it only reports.
    public struct ReconciliationDraft: Sendable, Hashable, Codable {
        /// Act on what was found.
        public var apply: Bool?
        /// Take over channels the ledger does not know.
        public var adopt: Bool?
        /// Delete channels the ledger does not know, within grace time and budget.
        public var deleteUnmanaged: Bool?
        /// Replace missing channels even when all are gone.
        public var recreate: Bool?

        /// What is left out is not said.
        public init(
            apply: Bool? = nil, adopt: Bool? = nil, deleteUnmanaged: Bool? = nil, recreate: Bool? = nil
        ) {
            self.apply = apply
            self.adopt = adopt
            self.deleteUnmanaged = deleteUnmanaged
            self.recreate = recreate
        }
    }

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
