package import FoundationEssentials
package import GrandstandContract

/// A caller's API key, with its scopes and apps as sets, because every request is checked against them. Requests see a
/// key as `Contract.Key`.
package struct APIKey: Reaching, Sendable, Hashable {
    package var id: UUID
    package var name: String
    package var scopes: Set<Contract.Scope>
    /// The apps that the key may access: a list, or all.
    package var reach: AppReach
    /// The time at which the key stops working; `nil`: it does not expire.
    package var expiresAt: Date?
    /// The key that replaced this one, if it was rotated.
    package var replacedBy: UUID?

    package init(
        id: UUID, name: String, scopes: Set<Contract.Scope>, reach: AppReach, expiresAt: Date? = nil,
        replacedBy: UUID? = nil
    ) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.reach = reach
        self.expiresAt = expiresAt
        self.replacedBy = replacedBy
    }

    /// The key as actor in the audit log.
    package var actor: AuditActor { .key(id: id, name: name) }

    package func isExpired(at now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }

    /// Whether the key holds `scope`; `admin` holds all, `device` also `lookup`.
    package func holds(_ scope: Contract.Scope) -> Bool {
        scopes.contains(scope) || scopes.contains(.admin) || scope == .lookup && scopes.contains(.device)
    }

    /// Whether the key has only scopes of client apps. Such keys ship inside apps, so they see no teams, keys or
    /// quirks.
    package var isForClientApps: Bool { scopes.isSubset(of: [.lookup, .device]) }

    /// Whether only installations of an app use the key: it registers them and looks channels up, and has no other
    /// scope.
    package var isOfDevices: Bool { isForClientApps && scopes.contains(.device) }
}
