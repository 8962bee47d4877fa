package import FoundationEssentials

/// A caller's API key: what it may do, and for which apps. Only a hash of the secret is stored.
package struct APIKey: Sendable, Hashable {
    package var id: UUID
    package var name: String
    package var scopes: Set<Scope>
    /// The apps that the key may access: a list, or all.
    package var reach: AppReach
    /// The first characters of the secret, so that people can recognise the key.
    package var prefix: String
    package var createdAt: Date
    package var revokedAt: Date?
    /// The time at which the key stops working; `nil`: it does not expire.
    package var expiresAt: Date?
    /// The key that replaced this one, if it was rotated.
    package var replacedBy: UUID?

    package init(
        id: UUID, name: String, scopes: Set<Scope>, reach: AppReach, prefix: String, createdAt: Date,
        revokedAt: Date?, expiresAt: Date? = nil, replacedBy: UUID? = nil
    ) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.reach = reach
        self.prefix = prefix
        self.createdAt = createdAt
        self.revokedAt = revokedAt
        self.expiresAt = expiresAt
        self.replacedBy = replacedBy
    }

    package enum Scope: String, Sendable, Hashable, CaseIterable {
        /// Client apps: look channels up.
        case lookup
        /// Client apps: register their installations, and look channels up. Such a key is bound to one app.
        case device
        /// Events and broadcasts.
        case organise
        /// Channels, quotas, reconciliations, the audit log.
        case operate
        /// Everything, including apps and keys.
        case admin
    }

    /// The state of a key, for people.
    package enum State: String, Sendable, Hashable, CaseIterable {
        case active
        case expired
        case revoked
    }

    package func state(at now: Date) -> State {
        if revokedAt != nil { return .revoked }
        return isExpired(at: now) ? .expired : .active
    }

    package func isExpired(at now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }

    /// Whether the key holds `scope`; `admin` holds all, `device` also `lookup`.
    package func holds(_ scope: Scope) -> Bool {
        scopes.contains(scope) || scopes.contains(.admin) || scope == .lookup && scopes.contains(.device)
    }

    /// Whether the key has only scopes of client apps. Such keys ship inside apps, so they see no teams, keys or
    /// quirks.
    package var isForClientApps: Bool { scopes.isSubset(of: [.lookup, .device]) }

    /// Whether only installations of an app use the key: it registers them and looks channels up, and has no other
    /// scope.
    package var isOfDevices: Bool { isForClientApps && scopes.contains(.device) }

    /// Whether the key may access `bundleID`. Upper and lower case are the same.
    package func covers(_ bundleID: BundleID) -> Bool { reach.covers(bundleID) }
}
