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
                try await keys.revoke(try context.id(orThrow: .keyNotFound), context.caller)
                return .noContent
            },
            Route(.rotateKey) { request, context in
                let id = try context.id(orThrow: .keyNotFound)
                let overlap = try KeyOperations.overlap(try await request.json(orIfEmpty: "{}"))
                return .json(try await keys.rotate(id, overlap: overlap, context.caller), status: .created)
            },
        ]
    }
}

extension KeyDraft {
    /// Reads the body of `POST /v1/keys`.
    init(body: JSONValue, now: Date) throws(Problem) {
        var fields = JSONFields(body)
        let name = fields.text("name", required: true)
        let reach = fields.reach()
        let expiresAt = fields.date("expiresAt")
        if let expiresAt, expiresAt <= now { fields.fault("expiresAt", "A time to come was expected.") }
        var scopes: Set<APIKey.Scope> = []
        for (value, _) in fields.array("scopes", required: true, count: 1...APIKey.Scope.allCases.count) ?? [] {
            guard case .string(let text) = value.kind, let scope = APIKey.Scope(rawValue: text) else {
                fields.fault("scopes", "Some of \(APIKey.Scope.allCases.map(\.rawValue).joined(separator: ", ")).")
                break
            }
            scopes.insert(scope)
        }
        let draft = KeyDraft(name: name ?? "", scopes: scopes, reach: reach, expiresAt: expiresAt)
        if draft.lacksApp { fields.fault("bundleId", KeyDraft.appRule) }
        try fields.finish()
        self = draft
    }
}

extension Contract.Key {
    /// A key as it stands at `now`, without its secret.
    init(_ listing: KeyListing, now: Date) {
        let key = listing.key
        self.init(
            id: key.id.words, name: key.name, scopes: key.scopes.words, bundleId: key.reach.onlyApp?.rawValue,
            bundleIds: key.reach.apps?.map(\.rawValue), prefix: key.prefix, state: .init(key.state(at: now)),
            createdAt: key.createdAt, expiresAt: key.expiresAt, revokedAt: key.revokedAt,
            replacedBy: key.replacedBy?.words, lastUsedAt: listing.lastUsedAt)
    }
}

extension Contract.IssuedKey {
    /// A key that was just made, with its secret.
    init(_ issued: IssuedKey, now: Date) {
        let key = issued.key
        self.init(
            id: key.id.words, name: key.name, scopes: key.scopes.words, bundleId: key.reach.onlyApp?.rawValue,
            bundleIds: key.reach.apps?.map(\.rawValue), prefix: key.prefix, state: .init(key.state(at: now)),
            createdAt: key.createdAt, expiresAt: key.expiresAt, revokedAt: key.revokedAt,
            replacedBy: key.replacedBy?.words, secret: issued.secret)
    }
}

extension Set<APIKey.Scope> {
    /// In the order of the alphabet.
    fileprivate var words: [Contract.Scope] { map(Contract.Scope.init).sorted { $0.rawValue < $1.rawValue } }
}
