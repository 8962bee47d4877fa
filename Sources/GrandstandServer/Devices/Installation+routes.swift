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
                let state = try InstallationState(body: try await request.json(upTo: DeviceBounds.body))
                let isNew = try await proof.registering(limits, at: now()) {
                    _ = try await installations.installation(proof.id, secret: proof.secret)
                } _: {
                    try await installations.put(state, of: proof.id, secret: proof.secret, now: now())
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

extension InstallationState {
    /// Reads the body of a registration. The body is the whole state of the installation: a field that is left out is
    /// cleared.
    init(body: JSONValue) throws(Problem) {
        self = try Contract.InstallationDraft.read(body) { draft, faults throws(Problem) in
            try InstallationState(draft, &faults)
        }
    }

    private init(_ draft: Contract.InstallationDraft, _ faults: inout RequestFaults) throws(Problem) {
        guard let system = SystemVersion(draft.systemVersion) else {
            throw Problem(.internalError, "openapi.yaml allows a version that this server does not.")
        }
        var tokens: [String: DeviceToken] = [:]
        for (index, token) in (draft.startTokens ?? []).enumerated()
        where tokens.updateValue(try DeviceToken(allowed: token.token), forKey: token.attributesType) != nil {
            faults.add(
                "/startTokens/\(index)/attributesType",
                "\(JSONText.quoted(token.attributesType)) is listed twice; a type has one token.")
        }
        self.init(
            sequence: draft.sequence, systemVersion: system, appVersion: draft.appVersion, locale: draft.locale,
            variant: draft.variant.flatMap(Variant.init(rawValue:)), timeZone: draft.timeZone,
            liveActivitiesEnabled: draft.liveActivitiesEnabled ?? true,
            frequentPushesEnabled: draft.frequentPushesEnabled ?? true, startTokens: tokens,
            topics: Set(try (draft.topics ?? []).map { text throws(Problem) in try Topic(allowed: text) }))
    }
}

extension DeviceToken {
    /// - Throws: `internal-error` for text that the contract should have refused.
    init(allowed text: String) throws(Problem) {
        guard let token = DeviceToken(hex: text) else {
            throw Problem(.internalError, "openapi.yaml allows a token that this server does not.")
        }
        self = token
    }
}
