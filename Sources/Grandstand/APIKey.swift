package import FoundationEssentials

/// A caller's key: what it may do, and for which app. The secret itself is never kept.
package struct APIKey: Sendable, Hashable {
    package var id: UUID
    package var name: String
    package var scopes: Set<Scope>
    /// The one app the key is for; `nil`: all.
    package var bundleID: BundleID?
    /// The first characters of the secret, for people to recognise it by.
    package var prefix: String
    package var createdAt: Date
    package var revokedAt: Date?

    package init(
        id: UUID, name: String, scopes: Set<Scope>, bundleID: BundleID?, prefix: String, createdAt: Date,
        revokedAt: Date?
    ) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.bundleID = bundleID
        self.prefix = prefix
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }

    package enum Scope: String, Sendable, Hashable, CaseIterable {
        /// Client apps: look channels up.
        case lookup
        /// Events and broadcasts.
        case organise
        /// Channels, quotas, reconciliations, the audit log.
        case operate
        /// Everything, and apps and keys.
        case admin
    }

    /// Whether the key holds `scope`; `admin` holds all.
    package func holds(_ scope: Scope) -> Bool { scopes.contains(scope) || scopes.contains(.admin) }

    /// Whether the key may touch what belongs to `bundleID`; case does not tell apps apart.
    package func covers(_ bundleID: BundleID) -> Bool {
        self.bundleID.map { $0.topic == bundleID.topic } ?? true
    }
}
