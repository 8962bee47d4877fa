internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The operations on apps.
struct AppOperations: Sendable {
    let apps: any AppStore
    let gateway: any APNsGateway
    let now: @Sendable () -> Date

    /// - Throws: `version-mismatch`; the errors of the store.
    func put(
        _ bundleID: BundleID, _ draft: AppDraft, if condition: WriteCondition, _ caller: Caller
    ) async throws -> (app: Versioned<Contract.App>, created: Bool) {
        let (app, created) = try await apps.put(
            App(
                bundleID: bundleID, name: draft.name, credentials: draft.credentials, overrides: draft.overrides,
                channelLimit: draft.channelLimit, updatedAt: now(), preview: draft.preview),
            by: caller.actor, if: condition)
        return (shown(app), created)
    }

    /// Whether an app is registered with these values. If so, a form that is sent twice ends with success.
    ///
    /// - Throws: `app-not-found`.
    func isRegistered(_ bundleID: BundleID, as draft: AppDraft) async throws -> Bool {
        let app = try await apps.registered(bundleID)
        return app.name == draft.name && app.credentials == draft.credentials && app.overrides == draft.overrides
            && app.channelLimit == draft.channelLimit && app.preview == draft.preview
    }

    func list(_ page: PageRequest, _ caller: Caller) async throws -> Contract.Page<Contract.App> {
        Contract.Page(try await apps.apps(page, within: caller.reach)) { shown($0).value }
    }

    /// The short view of apps for keys that ship in client apps.
    func names(_ page: PageRequest, _ caller: Caller) async throws -> Contract.Page<Contract.AppName> {
        Contract.Page(try await apps.apps(page, within: caller.reach), Contract.AppName.init)
    }

    /// - Throws: `app-not-found`; the errors of the store.
    func delete(_ bundleID: BundleID, _ caller: Caller) async throws {
        try await apps.delete(bundleID, by: caller.actor, now: now())
    }

    /// The API's view of an app, with the state of its key files and its quirks.
    func shown(_ app: App) -> Versioned<Contract.App> {
        Versioned(value: Contract.App(app, keyFiles: gateway.keyFiles(of: app)), version: app.version)
    }
}

extension Contract.Quirk {
    init(_ quirk: Quirk) {
        self.init(
            environment: .init(quirk.environment), quirk: .init(quirk.name), value: .init(rawValue: quirk.value),
            learnedAt: quirk.learnedAt, evidence: quirk.evidence)
    }
}
