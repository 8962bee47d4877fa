internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The operations on apps. Apps are shown with the state of their key files.
struct AppOperations: Sendable {
    let apps: AppStore
    let gateway: any APNsGateway
    let now: @Sendable () -> Date

    /// - Throws: `version-mismatch`; the errors of the store.
    func put(
        _ bundleID: BundleID, _ draft: Contract.AppDraft, if condition: WriteCondition, _ caller: Caller
    ) async throws -> (app: Versioned<Contract.App>, created: Bool) {
        let (app, created) = try await apps.put(bundleID, draft, by: caller.actor, if: condition, now: now())
        return (shown(app), created)
    }

    /// Whether an app is registered with these values. If so, a form that is sent twice ends with success.
    ///
    /// - Throws: `app-not-found`.
    func isRegistered(_ bundleID: BundleID, as draft: Contract.AppDraft) async throws -> Bool {
        let app = try await apps.registered(bundleID)
        return app.name == draft.name && app.teamId == draft.teamId && app.keyId == draft.keyId
            && app.channelLimit == draft.channelLimit ?? APNsLimits.channels
            && app.preview?.compact == draft.preview?.compact && app.preview?.expanded == draft.preview?.expanded
            && APNsEnvironment.allCases.allSatisfy { environment in
                let (own, wanted) = (app.environments[environment], draft.environments?[environment])
                return own?.teamId == wanted?.teamId && own?.keyId == wanted?.keyId
            }
    }

    func list(_ page: PageRequest, _ reach: AppReach) async throws -> Contract.AppPage {
        var page = try await apps.apps(page, within: reach)
        page.items = page.items.map(gateway.withKeyFiles)
        return page
    }

    /// - Throws: `app-not-found`.
    func app(_ bundleID: BundleID) async throws -> Versioned<Contract.App> { shown(try await apps.shown(bundleID)) }

    /// The short views of apps, for keys that ship in client apps.
    func names(_ page: PageRequest, _ caller: Caller) async throws -> Contract.AppNamePage {
        let page = try await apps.apps(page, within: caller.reach)
        return Contract.AppNamePage(items: page.items.map(Contract.AppName.init), nextCursor: page.nextCursor)
    }

    /// - Throws: `app-not-found`.
    func name(_ bundleID: BundleID) async throws -> Versioned<Contract.AppName> {
        let app = try await apps.shown(bundleID)
        return Versioned(value: Contract.AppName(app.value), version: app.version)
    }

    /// - Throws: `app-not-found`; the errors of the store.
    func delete(_ bundleID: BundleID, _ caller: Caller) async throws {
        try await apps.delete(bundleID, by: caller.actor, now: now())
    }

    private func shown(_ app: Versioned<Contract.App>) -> Versioned<Contract.App> {
        Versioned(value: gateway.withKeyFiles(app.value), version: app.version)
    }
}
