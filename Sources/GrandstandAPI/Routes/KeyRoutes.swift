internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/keys`: API keys. A key that is bound to apps manages keys that reach no other.
struct KeyRoutes: Sendable {
    let ledger: any KeyLedger
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.createKey, create),
            Route(.listKeys, list),
            Route(.getKey, get),
            Route(.revokeKey, revoke),
            Route(.rotateKey, rotate),
        ]
    }

    /// Seconds the old key goes on after a rotation that does not say: a day.
    private static let overlap = 86_400

    private func create(_ request: Request, _ context: APIContext) async throws -> Response {
        let draft = try KeyDraft(body: try await request.json(), now: now())
        try context.requireCover(of: draft.reach)
        return .json(
            IssuedKeyView(issued: try await ledger.create(draft, by: context.actor, now: now()), now: now()),
            status: .created)
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let page = try context.query.page()
        let listings = try await ledger.keys(within: context.reach, page)
        let now = now()
        return .json(
            Page(items: listings.items.map { KeyView(listing: $0, now: now) }, nextCursor: listings.nextCursor))
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        return .json(KeyView(listing: try await listing(context), now: now()))
    }

    private func revoke(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try await listing(context).key
        // Once more changes nothing: a client that did not hear the first answer is content, too.
        _ = try await ledger.revoke(key.id, by: context.actor, now: now())
        return .noContent
    }

    private func rotate(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try await listing(context).key
        var fields = JSONFields(try await request.json(orIfEmpty: "{}"))
        let overlap = fields.integer("overlapSeconds", in: 0...2_592_000) ?? Self.overlap
        try fields.finish()
        let now = now()
        let overlapEnds = now.addingTimeInterval(TimeInterval(overlap))
        guard let issued = try await ledger.rotate(key.id, overlapEnds: overlapEnds, by: context.actor, now: now)
        else {
            throw Problem(
                .keyNotFound,
                "The key \(key.name) is \(key.replacedBy == nil ? key.state(at: now).rawValue : "replaced already").")
        }
        return .json(IssuedKeyView(issued: issued, now: now), status: .created)
    }

    private func listing(_ context: APIContext) async throws -> KeyListing {
        let id = try context.id(orThrow: .keyNotFound)
        guard let listing = try await ledger.key(id) else {
            throw Problem(.keyNotFound, "There is no key \(id.uuidString.lowercased()).")
        }
        try context.requireCover(of: listing.key.reach)
        return listing
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

/// A key, without its secret.
struct KeyView: JSONObjectWritable {
    let listing: KeyListing
    let now: Date

    func write(members object: inout JSONWriter) {
        let key = listing.key
        object.member("id", key.id)
        object.member("name", key.name)
        object.member("scopes", key.scopes.map(\.rawValue).sorted())
        object.members(of: key.reach)
        object.member("prefix", key.prefix)
        object.member("state", key.state(at: now).rawValue)
        object.member("createdAt", key.createdAt)
        object.member("expiresAt", key.expiresAt)
        object.member("revokedAt", key.revokedAt)
        object.member("replacedBy", key.replacedBy?.uuidString.lowercased())
        object.member("lastUsedAt", listing.lastUsedAt)
    }
}

/// A key that was just made, with its secret.
struct IssuedKeyView: JSONObjectWritable {
    let issued: IssuedKey
    let now: Date

    func write(members object: inout JSONWriter) {
        KeyView(listing: KeyListing(key: issued.key, lastUsedAt: nil), now: now).write(members: &object)
        object.member("secret", issued.secret)
    }
}
