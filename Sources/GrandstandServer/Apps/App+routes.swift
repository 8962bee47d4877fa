internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps`: apps, and the provider keys that sign for them.
struct AppRoutes: Sendable {
    let apps: AppOperations

    var routes: [Route] {
        [
            Route(.putApp) { request, context in
                let bundleID = try context.bundleIDToWrite()
                let condition = try request.writeCondition()
                let draft = try AppDraft(try await request.json())
                let (app, created) = try await apps.put(bundleID, draft, if: condition, context.caller)
                return .json(app, status: created ? .created : .ok)
            },
            Route(.listApps) { _, context in
                let page = try context.query.page()
                if context.isOfClientApp { return .json(try await apps.names(page, context.caller)) }
                return .json(try await apps.list(page, context.caller))
            },
            Route(.getApp) { _, context in
                let app = try await apps.apps.shown(try context.bundleID())
                if context.isOfClientApp { return .json(Contract.AppName(app), headers: .version(app.version)) }
                return .json(apps.shown(app))
            },
            Route(.deleteApp) { _, context in
                try await apps.delete(try context.bundleID(), context.caller)
                return .noContent
            },
        ]
    }
}

/// The body of `PUT /v1/apps/{bundleId}`.
struct AppDraft: Sendable {
    let name: String
    let credentials: Credentials
    let overrides: [APNsEnvironment: App.Override]
    let channelLimit: Int
    var preview: AppPreview?

    init(_ body: JSONValue) throws(Problem) {
        self = try Contract.AppDraft.read(body) { draft, faults throws(Problem) in AppDraft(draft, &faults) }
    }

    private init(_ draft: Contract.AppDraft, _ faults: inout RequestFaults) {
        name = draft.name
        credentials = Credentials(teamID: draft.teamId, keyID: draft.keyId)
        channelLimit = draft.channelLimit ?? APNsLimits.channels
        let environments: [(APNsEnvironment, Contract.Override?)] = [
            (.development, draft.environments?.development), (.production, draft.environments?.production),
        ]
        overrides = Dictionary(
            uniqueKeysWithValues: environments.compactMap { environment, override in
                override.map { (environment, App.Override(teamID: $0.teamId, keyID: $0.keyId)) }
            })
        let preview = AppPreview(compact: draft.preview?.compact, expanded: draft.preview?.expanded)
        if let fault = ContentPreview.fault(in: preview.compact) { faults.add("/preview/compact", fault) }
        if let fault = ContentPreview.fault(in: preview.expanded) { faults.add("/preview/expanded", fault) }
        self.preview = preview.isEmpty ? nil : preview
    }
}

extension Contract.App {
    /// The API's view of an app.
    ///
    /// - Parameter keyFiles: the key file's state in each environment; an environment without an entry counts as a
    ///   missing file.
    init(_ app: App, keyFiles: [APNsEnvironment: KeyFileState]) {
        var credentials: [String: Contract.CredentialState] = [:]
        var refusals: [String: Contract.CredentialRefusal] = [:]
        for environment in APNsEnvironment.allCases {
            let state = keyFiles[environment] ?? .missing
            credentials[environment.rawValue] = .init(rawValue: state.word)
            if case .refused(let refusal) = state {
                refusals[environment.rawValue] = .init(reason: refusal.reason.text, since: refusal.since)
            }
        }
        func override(_ environment: APNsEnvironment) -> Contract.Override? {
            app.overrides[environment].map { Contract.Override(teamId: $0.teamID, keyId: $0.keyID) }
        }
        self.init(
            bundleId: app.bundleID.rawValue, topic: app.bundleID.topic, name: app.name, teamId: app.credentials.teamID,
            keyId: app.credentials.keyID, channelLimit: app.channelLimit,
            environments: .init(development: override(.development), production: override(.production)),
            credentials: credentials, credentialRefusals: refusals, quirks: app.quirks.map(Contract.Quirk.init),
            preview: app.preview.map { Contract.AppPreview(compact: $0.compact, expanded: $0.expanded) },
            createdAt: app.createdAt, updatedAt: app.updatedAt, deletingSince: app.deletingSince)
    }
}

extension Contract.AppName {
    /// The short view of an app, for keys that ship in client apps.
    init(_ app: App) {
        self.init(bundleId: app.bundleID.rawValue, topic: app.bundleID.topic, name: app.name)
    }
}
