internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The list of keys, and the form for a new one.
struct KeyList: ConsolePage {
    var template: TemplateName { .keys }
    let title = "Keys"
    let keys: Table
    let scopes: [Choice]
    let boundTo: String
    let pager: Pager

    init(_ page: Contract.Page<Contract.Key>, _ visit: Visit) {
        keys = Table(
            "Keys, the newest first; secrets are not stored", nothing: "You can see no keys.",
            page.items.map { KeyReading($0, own: visit.key) },
            [
                Column("Name") { [.link($0.name, $0.href), .words($0.isOwn ? "(yours)" : "")] },
                Column("Secret begins") { [.code($0.prefix)] }, Column("Scopes") { [.words($0.scopes)] },
                Column("Apps") { [.quoted($0.apps)] }, Column("Event keys") { [.code($0.eventKeys)] },
                Column("State") { [.state($0.state)] },
                Column("Last used") { [.moment($0.lastUsedAt, else: "never")] },
                Column("Created") { [.moment($0.createdAt)] },
                Column("Expires") { [.moment($0.expiresAt, else: "never")] },
            ])
        scopes = Contract.Scope.allCases.map { Choice($0.rawValue, label: $0.hint, isChosen: false) }
        boundTo = visit.key.reach.apps.map { $0.map(\.rawValue).joined(separator: ", ") } ?? ""
        pager = Pager(visit, nextCursor: page.nextCursor)
    }
}

extension Contract.Scope {
    /// What a key with this scope is for.
    fileprivate var hint: String {
        switch self {
        case .lookup: "apps: look channels up"
        case .device: "apps: register installations, and look channels up"
        case .organise: "events and broadcasts"
        case .operate: "channels, quotas, reconciliations, audit log"
        case .admin: "all of the above, and also apps and keys"
        case .unknown(let word): word
        }
    }
}

/// A key in the form that pages show.
struct KeyReading: Sendable {
    let name: String
    let href: String
    let prefix: String
    let scopes: String
    let apps: String
    /// The event-key prefix in the form `bl1.…`; empty if the key has none.
    let eventKeys: String
    let state: String
    let createdAt: Date
    let expiresAt: Date?
    let lastUsedAt: Date?
    /// Whether the reader is signed in with this key.
    let isOwn: Bool

    init(_ key: Contract.Key, own: APIKey) {
        name = key.name
        href = ConsolePath.key(key.id)
        prefix = key.prefix + "…"
        scopes = key.scopes.map(\.rawValue).joined(separator: ", ")
        apps = Wording.apps(key.bundleIds)
        eventKeys = key.eventKeyPrefix.map { $0 + "…" } ?? ""
        state = key.replacedBy == nil ? key.state.rawValue : "\(key.state.rawValue), replaced"
        createdAt = key.createdAt
        expiresAt = key.expiresAt
        lastUsedAt = key.lastUsedAt
        isOwn = key.id == own.id.words
    }
}

/// One key, and the actions on it.
struct KeyDetail: ConsolePage {
    var template: TemplateName { .key }
    let title: String
    let facts: [Fact]
    /// The webhooks that the key declared.
    let webhooks: Table
    let isOwn: Bool
    let isActive: Bool
    let mayRotate: Bool
    /// Whether a webhook that the key declared is enabled.
    let hasEnabledWebhooks: Bool
    /// Whether the key is no longer valid although its webhooks still get messages.
    let leavesWebhooks: Bool
    let rotateAction: String
    let revokeAction: String
    let oldSecretLifetimes: [Choice]

    init(_ shown: Contract.Key, _ declared: [Contract.Webhook], _ visit: Visit) {
        let key = KeyReading(shown, own: visit.key)
        title = "Key \(key.name)"
        facts =
            [
                Fact("State", .state(key.state), .words(key.isOwn ? "(the one you signed in with)" : "")),
                Fact("Secret begins", .code(key.prefix)), Fact("Scopes", .words(key.scopes)),
                Fact("Apps", .quoted(key.apps)), Fact("Event keys", .code(key.eventKeys)),
                Fact("Last used", .moment(key.lastUsedAt, else: "never")),
                Fact("Created", .moment(key.createdAt)), Fact("Expires", .moment(key.expiresAt, else: "never")),
                Fact("Revoked", .moment(shown.revokedAt)),
                Fact(
                    "Replaced by", shown.replacedBy.map { Piece.link("another key", ConsolePath.key($0)) } ?? .words("")
                ),
            ].nonEmpty
        webhooks = Table(
            "Webhooks that this key declared", nothing: "None.", declared,
            [
                Column("URL") { [.link($0.url, ConsolePath.webhook($0.id))] },
                Column("Topics") { [.words($0.topics.map(\.rawValue).joined(separator: ", "))] },
                Column("Apps") { [.quoted(Wording.apps($0.bundleIds))] },
                Column("State") { WebhookList.state($0) },
            ])
        isOwn = key.isOwn
        isActive = shown.state == .active
        hasEnabledWebhooks = declared.contains { $0.enabled }
        leavesWebhooks = !isActive && hasEnabledWebhooks
        mayRotate = isActive && shown.replacedBy == nil
        rotateAction = key.href + "/rotate"
        revokeAction = key.href + "/revoke"
        oldSecretLifetimes = Choice.oldSecretLifetimes
    }
}

/// The page that shows a new secret, once only.
struct IssuedSecret: ConsolePage {
    var template: TemplateName { .secret }
    let title: String
    /// `nil`: the form was sent before, and `warnings` say so.
    let secret: String?
    let warnings: [String]?
    let purpose: String
    let href: String
}
