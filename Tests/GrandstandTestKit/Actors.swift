package import FoundationEssentials
package import Grandstand
package import GrandstandContract
package import GrandstandServer

// Calls for tests that do not check the audit log or the apps of API keys: the server is the actor and may access
// everything.

extension AppStore {
    @discardableResult
    package func put(
        _ app: AppSample, by actor: AuditActor = .server, if condition: WriteCondition = .none
    ) async throws -> (app: Versioned<Contract.App>, created: Bool) {
        try await put(app.bundleID, app.draft, by: actor, if: condition, now: app.date)
    }

    package func apps(_ page: PageRequest) async throws -> Contract.AppPage { try await apps(page, within: .all) }

    package func delete(_ bundleID: BundleID) async throws { try await delete(bundleID, by: .server, now: Date()) }
}

extension KeyStore {
    package func create(
        name: String, scopes: Set<Contract.Scope>, bundleID: BundleID?, by actor: AuditActor = .commandLine
    ) async throws -> (key: APIKey, secret: String) {
        let issued = try await create(
            Contract.KeyDraft(name: name, scopes: Array(scopes), bundleId: bundleID?.rawValue), by: actor, now: Date())
        let key = APIKey(
            id: UUID(uuidString: issued.id) ?? UUID(), name: name, scopes: scopes,
            reach: AppReach(of: bundleID.map { [$0] }))
        return (key, issued.secret ?? "")
    }

    package func keys() async throws -> [Contract.Key] {
        try await keys(within: .all, PageRequest(limit: 200), now: Date()).items
    }

    package func revoke(_ id: UUID, by actor: AuditActor = .commandLine, now: Date) async throws -> Bool {
        try await revoke(id, disablingWebhooks: false, by: actor, now: now)
    }
}
