internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/keys`.
struct KeyRoutes: Sendable {
    let keys: KeyOperations

    var routes: [Route] {
        [
            Route(.createKey) { request, context in
                let draft = try KeyDraft(body: try await request.json(), now: keys.now())
                return .json(try await keys.create(draft, context.caller), status: .created)
            },
            Route(.listKeys) { _, context in
                .json(try await keys.list(try context.query.page(), context.caller))
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

extension KeyDraft {
    /// Reads the body of `POST /v1/keys`.
    init(body: JSONValue, now: Date) throws(Problem) {
        self = try Contract.KeyDraft.read(body) { body, faults throws(Problem) in
            if let expiresAt = body.expiresAt, expiresAt <= now {
                faults.add("/expiresAt", "A time in the future was expected.")
            }
            var reach = try AppReach(body.bundleId, body.bundleIds, &faults)
            reach.eventKeyPrefix = body.eventKeyPrefix.flatMap(EventKey.init)
            let draft = KeyDraft(
                name: body.name, scopes: Set(try body.scopes.map { word throws(Problem) in try APIKey.Scope(word) }),
                reach: reach, expiresAt: body.expiresAt)
            if draft.lacksApp { faults.add("/bundleId", KeyDraft.appRule) }
            if draft.mayNotHavePrefix { faults.add("/eventKeyPrefix", KeyDraft.prefixRule) }
            return draft
        }
    }
}

extension Contract.Key {
    /// A key without its secret, with its state at `now`.
    init(_ listing: KeyListing, now: Date) {
        let key = listing.key
        self.init(
            id: key.id.words, name: key.name, scopes: key.scopes.words, bundleId: key.reach.onlyApp?.rawValue,
            bundleIds: key.reach.apps?.map(\.rawValue), eventKeyPrefix: key.reach.eventKeyPrefix?.rawValue,
            prefix: key.prefix, state: .init(key.state(at: now)),
            createdAt: key.createdAt, expiresAt: key.expiresAt, revokedAt: key.revokedAt,
            replacedBy: key.replacedBy?.words, lastUsedAt: listing.lastUsedAt)
    }
}

extension Contract.IssuedKey {
    /// A new key with its secret.
    init(_ issued: IssuedKey, now: Date) {
        self.init(secret: issued.secret, Contract.Key(KeyListing(key: issued.key, lastUsedAt: nil), now: now))
    }
}

extension Set<APIKey.Scope> {
    /// The scopes in alphabetical order.
    fileprivate var words: [Contract.Scope] { map(Contract.Scope.init).sorted { $0.rawValue < $1.rawValue } }
}
