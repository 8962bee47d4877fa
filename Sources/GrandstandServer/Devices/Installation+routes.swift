internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/{environment}/installations`: millions of phones register themselves here, and organisers read
/// counts.
extension API {
    var installationRoutes: [Route] {
        let installations = stores.installations
        return [
            own(.putInstallation) { proof, request, _ in
                let draft = try Contract.InstallationDraft.read(try await request.json(upTo: DeviceBounds.body)) {
                    draft, faults throws(Problem) in
                    draft.checkTypes(&faults)
                    return draft
                }
                let isNew = try await proof.registering(limits, at: now()) {
                    _ = try await installations.installation(proof.id, secret: proof.secret)
                } _: {
                    try await installations.put(draft, of: proof.id, secret: proof.secret, now: now())
                }
                return .json(Contract.Registered(installationId: proof.id.id.words), status: isNew ? .created : .ok)
            },
            own(.getInstallation) { proof, _, _ in
                .json(try await installations.installation(proof.id, secret: proof.secret))
            },
            own(.forgetInstallation) { proof, _, _ in
                try await installations.forget(proof.id, secret: proof.secret)
                return .noContent
            },
            Route(.installationStatistics) { _, context in
                .json(try await installations.statistics(of: try context.app()))
            },
        ]
    }
}

extension API {
    /// A route on which an installation acts for itself, proved by its secret (`InstallationProof.proved`).
    func own(
        _ operation: Contract.Operation,
        _ handler: @escaping @Sendable (InstallationProof, Request, APIContext) async throws -> Response
    ) -> Route {
        Route(operation) { request, context in
            let proof = try InstallationProof(request, context)
            return try await proof.proved(limits, at: now()) { try await handler(proof, request, context) }
        }
    }
}

extension Contract.InstallationDraft {
    fileprivate func checkTypes(_ faults: inout RequestFaults) {
        var types: Set<String> = []
        for (index, token) in (startTokens ?? []).enumerated() where !types.insert(token.attributesType).inserted {
            faults.add(
                "/startTokens/\(index)/attributesType",
                "\(JSONText.quoted(token.attributesType)) is listed twice; a type has one token.")
        }
    }
}
