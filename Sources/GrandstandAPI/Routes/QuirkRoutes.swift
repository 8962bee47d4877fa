internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/{environment}/quirks/{quirk}`: what an admin knows better than was learned.
struct QuirkRoutes: Sendable {
    let apps: any AppStore
    let quirks: any QuirkStore
    let now: @Sendable () -> Date

    var routes: [Route] {
        [Route(.putQuirk, put)]
    }

    private func put(_ request: Request, _ context: APIContext) async throws -> Response {
        let target = try context.app()
        let name = try name(context)
        var fields = JSONFields(try await request.json())
        let value = fields.text("value", required: true)
        if let value, !name.values.contains(value) {
            fields.fault("value", "One of \(name.values.joined(separator: ", ")) was expected.")
        }
        try fields.finish()
        let app = try await apps.registered(target.bundleID)
        let quirk = Quirk(
            environment: target.environment, name: name, value: value ?? name.documented, learnedAt: now(),
            evidence: "set by \(context.actor.text)")
        try await quirks.remember(
            quirk, for: AppEnvironment(bundleID: app.bundleID, environment: target.environment), by: context.actor)
        return .json(quirk)
    }

    private func name(_ context: APIContext) throws(Problem) -> Quirk.Name {
        let text = context.text("quirk")
        guard let name = Quirk.Name(rawValue: text) else {
            throw Problem(
                .notFound,
                "\(JSONText.quoted(text)) is no quirk; there are "
                    + "\(Quirk.Name.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return name
    }
}
