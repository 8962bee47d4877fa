internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/keys`.
extension API {
    var keyRoutes: [Route] {
        [
            Route(.createKey) { request, context in
                let draft = try Contract.KeyDraft(body: try await request.json(), now: now())
                return .json(try await keys.create(draft, context.caller), status: .created)
            },
            Route(.listKeys) { _, context in
                .json(try await keys.keys(within: context.reach, try context.query.page(), now: now()))
            },
            Route(.getKey) { _, context in
                .json(try await keys.key(try context.id(orThrow: .keyNotFound), context.caller))
            },
            Route(.revokeKey) { _, context in
                try await keys.revoke(
                    try context.id(orThrow: .keyNotFound),
                    disablingWebhooks: try context.query.flag("disableWebhooks"), context.caller)
                return .noContent
            },
            Route(.rotateKey) { request, context in
                let id = try context.id(orThrow: .keyNotFound)
                let overlap = try Contract.RotationDraft.read(try await request.json(orIfEmpty: "{}")).overlapSeconds
                return .json(try await keys.rotate(id, overlap: overlap, context.caller), status: .created)
            },
        ]
    }
}

extension Contract.KeyDraft {
    /// Reads the body of `POST /v1/keys`.
    init(body: JSONValue, now: Date) throws(Problem) {
        self = try Self.read(body) { draft, faults throws(Problem) in
            if let expiresAt = draft.expiresAt, expiresAt <= now {
                faults.add("/expiresAt", "A time in the future was expected.")
            }
            _ = try AppReach(draft.bundleId, draft.bundleIds, &faults)
            if draft.lacksApp { faults.add("/bundleId", Self.appRule) }
            if draft.mayNotHavePrefix { faults.add("/eventKeyPrefix", Self.prefixRule) }
            return draft
        }
    }
}
