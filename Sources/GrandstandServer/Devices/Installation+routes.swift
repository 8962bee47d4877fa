internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/{environment}/installations`: millions of phones register themselves and their Live Activities
/// here, and organisers read counts.
extension API {
    var installationRoutes: [Route] {
        let installations = stores.installations
        return [
            deviceRoute(.putInstallation) { id, secret, request, context in
                let draft = try Contract.InstallationDraft.read(try await request.json(upTo: DeviceBounds.body)) {
                    $0.checkUniqueTypes(&$1)
                    return $0
                }
                let refusal = limits.newInstallation(from: context.callerNetwork, at: now(), 0).map {
                    Problem.tooMany("new installations from this address", wait: $0.reset)
                }
                let isNew = try await installations.put(draft, of: id, secret: secret, unlessNew: refusal, now: now())
                if isNew { _ = limits.newInstallation(from: context.callerNetwork, at: now(), 1) }
                return .json(Contract.Registered(installationId: id.id.text), status: isNew ? .created : .ok)
            },
            deviceRoute(.getInstallation) { id, secret, _, _ in
                .json(try await installations.installation(id, secret: secret))
            },
            deviceRoute(.forgetInstallation) { id, secret, _, _ in
                try await installations.forget(id, secret: secret)
                return .noContent
            },
            deviceRoute(.putActivity) { id, secret, request, context in
                let activity = try context.activityID()
                let draft = try Contract.ActivityDraft.read(try await request.json(upTo: DeviceBounds.body))
                let isNew = try await installations.put(draft, as: activity, of: id, secret: secret, now: now())
                return .json(Contract.Registered(installationId: id.id.text), status: isNew ? .created : .ok)
            },
            deviceRoute(.forgetActivity) { id, secret, _, context in
                try await installations.forget(activity: try context.activityID(), of: id, secret: secret)
                return .noContent
            },
            Route(.installationStatistics) { _, context in
                let app = try context.app()
                _ = try await stores.apps.registered(app.bundleID)
                return .json(try await installations.statistics(of: app))
            },
        ]
    }
}

extension API {
    /// A route on which an installation acts for itself, proved by its secret. After too many wrong secrets, another
    /// wrong secret is `rate-limited`. The right secret is still accepted, because the wrong ones may come from a
    /// stranger with the same address.
    func deviceRoute(
        _ operation: Contract.Operation,
        _ handler: @escaping @Sendable (InstallationID, String, Request, APIContext) async throws -> Response
    ) -> Route {
        Route(operation) { request, context in
            let app = try context.app()
            let uuid = try context.id("installationId", orThrow: .invalidRequest)
            guard let secret = request.headers[Self.secretHeader], Self.secretRule.accepts(secret) else {
                throw Problem.invalid(
                    "Send the installation's secret, which the app generates once and keeps in the keychain.",
                    at: Self.secretHeader.rawName, Self.secretRule.sentence)
            }
            do {
                let id = InstallationID(bundleID: app.bundleID, environment: app.environment, id: uuid)
                return try await handler(id, secret, request, context)
            } catch let problem as Problem where problem.kind == .wrongInstallationSecret {
                let standing = limits.countWrongSecret(of: uuid, from: context.callerNetwork, at: now())
                throw standing.map { .tooMany("wrong secrets from this address", wait: $0.reset) } ?? problem
            }
        }
    }

    /// The force-unwrap is safe: the literal is a valid field name (RFC 9110).
    private static let secretHeader = HTTPField.Name("Grandstand-Installation-Secret")!
    private static let secretRule = TextRule(
        pattern: "^[A-Za-z0-9_-]{43,128}$",
        rule: "43 to 128 of A-Z a-z 0-9 - and _ were expected: 32 random bytes or more in base64url.")
}

extension APIContext {
    /// - Throws: `invalid-request`.
    fileprivate func activityID() throws(Problem) -> String {
        let text = text("activityId")
        let rule = TextRule.activityId
        guard rule.accepts(text) else {
            throw Problem.invalid(
                "The activity ID in the path is not valid. \(rule.sentence)", at: "activityId", rule.sentence)
        }
        return text
    }
}

extension Contract.InstallationDraft {
    fileprivate func checkUniqueTypes(_ faults: inout RequestFaults) {
        var types: Set<String> = []
        for (index, token) in (startTokens ?? []).enumerated() where !types.insert(token.attributesType).inserted {
            faults.add(
                "/startTokens/\(index)/attributesType",
                "\(token.attributesType.quotedJSON) is listed twice; a type has one token.")
        }
    }
}
