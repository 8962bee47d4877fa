package import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import Hummingbird
package import JSON

/// `/v1/keys`.
extension API {
    var keyRoutes: [Route] {
        [
            Route(.createKey) { request, context in
                let draft = try Contract.KeyDraft(body: try await request.json(), now: now())
                let key = try await keys.create(draft, by: context.actor, within: context.reach)
                return .json(key, status: .created)
            },
            Route(.listKeys) { _, context in
                .json(try await keys.keys(within: context.reach, try context.query.page()))
            },
            Route(.getKey) { _, context in
                .json(try await keys.key(context.id(orThrow: .keyNotFound), within: context.reach))
            },
            // Revoking a revoked key changes nothing, so a client that missed the answer may repeat the call.
            Route(.revokeKey) { _, context in
                let id = try context.id(orThrow: .keyNotFound)
                let disablingWebhooks = try context.query.flag("disableWebhooks")
                _ = try await keys.key(id, within: context.reach)
                try await keys.revoke(id, disablingWebhooks: disablingWebhooks, by: context.actor)
                return .noContent
            },
            Route(.rotateKey) { request, context in
                let id = try context.id(orThrow: .keyNotFound)
                let draft = try Contract.RotationDraft.read(try await request.json(orIfEmpty: "{}"))
                let (overlap, reach) = (draft.overlapSeconds, context.reach)
                let key = try await keys.rotate(id, overlap: overlap, by: context.actor, within: reach)
                return .json(key, status: .created)
            },
        ]
    }
}

extension Contract.KeyDraft {
    /// Reads the body of `POST /v1/keys`.
    package init(body: JSONValue, now: Date) throws(Problem) {
        self = try Self.read(body) { draft, faults throws(Problem) in
            if let expiresAt = draft.expiresAt, expiresAt <= now {
                faults.add("/expiresAt", "A time in the future was expected.")
            }
            // Anybody can extract a `device` key from the app, so it must not open another app.
            if draft.scopes.contains(.device), draft.reach.onlyApp == nil {
                faults.add("/bundleId", "A key with the scope device is for exactly one app.")
            }
            // Only calls on events check the prefix.
            if draft.eventKeyPrefix != nil, Set(draft.scopes) != [.organise] {
                faults.add("/eventKeyPrefix", "A key with a prefix has only the scope organise.")
            }
            return draft
        }
    }
}
