internal import APNsWire
internal import ContentPreviews
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps`: the apps, and the provider keys that sign for them.
struct AppRoutes: Sendable {
    let apps: any AppStore
    let quirks: any QuirkStore
    let gateway: any APNsGateway
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.putApp, put),
            Route(.listApps, list),
            Route(.getApp, get),
            Route(.deleteApp, delete),
        ]
    }

    private func put(_ request: Request, _ context: APIContext) async throws -> Response {
        let bundleID = try context.bundleIDToWrite()
        let condition = try request.writeCondition()
        let draft = try AppDraft(try await request.json())
        let (app, created) = try await apps.put(
            App(
                bundleID: bundleID, name: draft.name, credentials: draft.credentials, overrides: draft.overrides,
                channelLimit: draft.channelLimit, updatedAt: now(), preview: draft.preview),
            by: context.actor, if: condition)
        return .json(try await view(app), status: created ? .created : .ok, headers: .version(app.version))
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let page = try await apps.apps(try context.query.page(), within: context.reach)
        if context.isOfClientApp {
            return .json(Page(items: page.items.map(AppNameView.init), nextCursor: page.nextCursor))
        }
        var views: [AppView] = []
        for app in page.items { views.append(try await view(app)) }
        return .json(Page(items: views, nextCursor: page.nextCursor))
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        let bundleID = try context.bundleID()
        let app = try await apps.registered(bundleID)
        if context.isOfClientApp { return .json(AppNameView(app: app), headers: .version(app.version)) }
        return .json(try await view(app), headers: .version(app.version))
    }

    private func delete(_ request: Request, _ context: APIContext) async throws -> Response {
        try await apps.delete(try context.bundleID(), by: context.actor, now: now())
        return .noContent
    }

    private func view(_ app: App) async throws -> AppView {
        // What APNs does as documented is no quirk.
        let departures = try await quirks.quirks(of: app.bundleID).filter(\.isDeparture)
        return AppView(app: app, keyFiles: await gateway.keyFiles(of: app), quirks: departures)
    }
}

/// The body of `PUT /v1/apps/{bundleId}`.
struct AppDraft {
    let name: String
    let credentials: Credentials
    let overrides: [APNsEnvironment: App.Override]
    let channelLimit: Int
    let preview: AppPreview?

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
