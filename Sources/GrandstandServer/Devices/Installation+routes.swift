internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/{environment}/installations`: millions of phones register themselves here, and organisers read
/// counts.
extension API {
    var installationRoutes: [Route] {
        let installations = stores.installations
        return [
            own(.putInstallation) { id, secret, request, context in
                let draft = try Contract.InstallationDraft.read(try await request.json(upTo: DeviceBounds.body)) {
                    draft, faults throws(Problem) in
                    draft.checkTypes(&faults)
                    return draft
                }
                // Beyond the limit of new installations from an address, only a known installation may register again.
                if let standing = limits.refusesNewInstallation(from: context.address, at: now()) {
                    do {
                        _ = try await installations.installation(id, secret: secret)
                    } catch let problem as Problem where problem.kind == .installationNotFound {
                        throw Problem.tooMany("new installations", wait: standing.reset)
                    }
                }
                let isNew = try await installations.put(draft, of: id, secret: secret, now: now())
                if isNew { limits.registered(from: context.address, at: now()) }
                return .json(Contract.Registered(installationId: id.id.words), status: isNew ? .created : .ok)
            },
            own(.getInstallation) { id, secret, _, _ in
                .json(try await installations.installation(id, secret: secret))
            },
            own(.forgetInstallation) { id, secret, _, _ in
                try await installations.forget(id, secret: secret)
                return .noContent
            },
            Route(.installationStatistics) { _, context in
                .json(try await installations.statistics(of: try context.app()))
            },
        ]
    }
}

extension API {
    /// A route on which an installation acts for itself, proved by its secret. After too many wrong secrets, another
    /// wrong secret is `rate-limited`. The right secret is still accepted, because the wrong ones may come from a
    /// stranger with the same address.
    func own(
        _ operation: Contract.Operation,
        _ handler: @escaping @Sendable (InstallationID, String, Request, APIContext) async throws -> Response
    ) -> Route {
        Route(operation) { request, context in
            let app = try context.app()
            guard let uuid = UUID(uuidString: context.text("installationId")) else {
                throw Problem.invalid(
                    "The installation ID in the path is not a UUID.", at: "installationId",
                    "A UUID that the app made was expected.")
            }
            guard let secret = request.headers[.installationSecret], Self.installationSecret.accepts(secret) else {
                throw Problem(
                    .invalidRequest,
                    "Send the installation's secret in the header Grandstand-Installation-Secret: the app generates it "
                        + "once, and keeps it in the keychain.",
                    errors: [
                        FieldError(
                            pointer: "Grandstand-Installation-Secret", detail: Self.installationSecret.sentence)
                    ])
            }
            do {
                let id = InstallationID(bundleID: app.bundleID, environment: app.environment, id: uuid)
                return try await handler(id, secret, request, context)
            } catch let problem as Problem where problem.kind == .wrongInstallationSecret {
                let standing = limits.countWrongSecret(of: uuid, from: context.address, at: now())
                throw standing.map { .tooMany("wrong secrets of installations", wait: $0.reset) } ?? problem
            }
        }
    }

    private static let installationSecret = TextRule(
        pattern: "^[A-Za-z0-9_-]{43,128}$",
        rule: "43 to 128 of A-Z a-z 0-9 - and _ were expected: 32 random bytes or more in base64url.")
}

extension HTTPField.Name {
    /// The force-unwrap is safe: the literal is a valid field name (RFC 9110).
    fileprivate static let installationSecret = HTTPField.Name("Grandstand-Installation-Secret")!
}

extension Contract.InstallationDraft {
    fileprivate func checkTypes(_ faults: inout RequestFaults) {
        var types: Set<String> = []
        for (index, token) in (startTokens ?? []).enumerated() where !types.insert(token.attributesType).inserted {
            faults.add(
                "/startTokens/\(index)/attributesType",
                "\(token.attributesType.quotedJSON) is listed twice; a type has one token.")
        }
    }
}
