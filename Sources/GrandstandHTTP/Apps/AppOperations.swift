internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The operations on apps, and on quirks that an admin sets by hand.
struct AppOperations: Sendable {
    let apps: any AppStore
    let quirks: any QuirkStore
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
        return (try await shown(app), created)
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
        let page = try await apps.apps(page, within: caller.reach)
        var shown: [Contract.App] = []
        for app in page.items { shown.append(try await self.shown(app).value) }
        return Contract.Page(items: shown, nextCursor: page.nextCursor)
    }

    /// The short view of apps for keys that ship in client apps.
    func names(_ page: PageRequest, _ caller: Caller) async throws -> Contract.Page<Contract.AppName> {
        Contract.Page(try await apps.apps(page, within: caller.reach), Contract.AppName.init)
    }

    /// - Throws: `app-not-found`; the errors of the store.
    func delete(_ bundleID: BundleID, _ caller: Caller) async throws {
        try await apps.delete(bundleID, by: caller.actor, now: now())
    }

    /// - Throws: `app-not-found`.
    func setQuirk(
        _ name: Quirk.Name, _ value: String, for target: AppEnvironment, _ caller: Caller
    ) async throws -> Contract.Quirk {
        let app = try await apps.registered(target.bundleID)
        let quirk = Quirk(
            environment: target.environment, name: name, value: value, learnedAt: now(),
            evidence: "set by \(caller.actor.text)")
        try await quirks.remember(
            quirk, for: AppEnvironment(bundleID: app.bundleID, environment: target.environment), by: caller.actor)
        return Contract.Quirk(quirk)
    }

    /// The API's view of an app, with the state of its key files and its quirks.
    func shown(_ app: App) async throws -> Versioned<Contract.App> {
        // A record that says "as documented" is not a quirk.
        let differences = try await quirks.quirks(of: app.bundleID).filter(\.isDifference)
        return Versioned(
            value: Contract.App(app, keyFiles: await gateway.keyFiles(of: app), quirks: differences),
            version: app.version)
    }
}

extension Quirk.Name {
    /// - Throws: `not-found` for text that is not a quirk's name.
    init(path text: String) throws(Problem) {
        guard let name = Quirk.Name(rawValue: text) else {
            throw Problem(
                .notFound,
                "\(JSONText.quoted(text)) is no quirk; there are "
                    + "\(Quirk.Name.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        self = name
    }

    /// Reads the value from the body of a PUT.
    ///
    /// - Throws: `invalid-request` for a value that this quirk cannot have.
    func value(_ body: JSONValue) throws(Problem) -> String {
        try Contract.QuirkDraft.read(body) { draft, faults throws(Problem) in
            if !values.contains(draft.value.rawValue) {
                faults.add("/value", "One of \(values.joined(separator: ", ")) was expected.")
            }
            return draft.value.rawValue
        }
    }
}

extension Contract.Quirk {
    init(_ quirk: Quirk) {
        self.init(
            environment: .init(quirk.environment), quirk: .init(quirk.name), value: .init(rawValue: quirk.value),
            learnedAt: quirk.learnedAt, evidence: quirk.evidence)
    }
}
