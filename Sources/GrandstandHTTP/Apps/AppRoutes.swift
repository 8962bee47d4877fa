internal import APNsWire
internal import ContentPreviews
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps`: the apps, and the provider keys that sign for them.
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
                let app = try await apps.apps.registered(try context.bundleID())
                if context.isOfClientApp { return .json(Contract.AppName(app), headers: .version(app.version)) }
                return .json(try await apps.shown(app))
            },
            Route(.deleteApp) { _, context in
                try await apps.delete(try context.bundleID(), context.caller)
                return .noContent
            },
            Route(.putQuirk) { request, context in
                let (app, name) = (try context.app(), try Quirk.Name(path: context.text("quirk")))
                let value = try name.value(try await request.json())
                return .json(try await apps.setQuirk(name, value, for: app, context.caller))
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
        var fields = JSONFields(body)
        let name = fields.text("name", required: true)
        let teamID = Self.identifier("teamId", &fields, required: true)
        let keyID = Self.identifier("keyId", &fields, required: true)
        channelLimit = fields.integer("channelLimit", in: 1...APNsLimits.channels) ?? APNsLimits.channels
        var overrides: [APNsEnvironment: App.Override] = [:]
        if var environments = fields.fields("environments") {
            for environment in APNsEnvironment.allCases {
                guard var nested = environments.fields(environment.rawValue) else { continue }
                overrides[environment] = App.Override(
                    teamID: Self.identifier("teamId", &nested), keyID: Self.identifier("keyId", &nested))
                environments.absorb(nested)
            }
            fields.absorb(environments)
        }
        preview = fields.preview("preview")
        try fields.finish()
        self.name = name ?? ""
        self.overrides = overrides
        credentials = Credentials(teamID: teamID ?? "", keyID: keyID ?? "")
    }

    private static func identifier(
        _ name: String, _ fields: inout JSONFields, required: Bool = false
    ) -> String? {
        fields.read(name, "Apple's 10 letters and digits were expected.", required: required) { text in
            Credentials.isIdentifier(text) ? text : nil
        }
    }
}

extension Contract.App {
    /// An app with what is known around it.
    ///
    /// - Parameters:
    ///   - keyFiles: a missing environment counts as a missing file.
    ///   - quirks: what differs from APNs' documentation.
    init(_ app: App, keyFiles: [APNsEnvironment: KeyFileState], quirks: [Quirk]) {
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
            credentials: credentials, credentialRefusals: refusals, quirks: quirks.map(Contract.Quirk.init),
            preview: app.preview.map { Contract.AppPreview(compact: $0.compact, expanded: $0.expanded) },
            createdAt: app.createdAt, updatedAt: app.updatedAt)
    }
}

extension Contract.AppName {
    /// An app as the keys see it that ship in apps.
    init(_ app: App) {
        self.init(bundleId: app.bundleID.rawValue, topic: app.bundleID.topic, name: app.name)
    }
}
