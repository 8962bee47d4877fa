internal import FoundationEssentials
internal import Grandstand

/// The keys there are, and the form for another.
struct KeyList: ConsolePage {
    var template: TemplateName { .keys }
    let title = "Keys"
    let rows: [KeyRow]
    let scopes: [Check]
    let boundTo: String
    let pager: Pager

    init(_ page: JSONValue, _ visit: Visit) {
        rows = page.items("items").map { KeyRow($0, own: visit.key) }
        scopes = APIKey.Scope.allCases.map { Check(value: $0.rawValue, hint: $0.hint, isTicked: false) }
        boundTo = visit.key.reach.apps.map { $0.map(\.rawValue).joined(separator: ", ") } ?? ""
        pager = Pager(visit, nextCursor: page["nextCursor"]?.string)
    }
}

extension APIKey.Scope {
    /// Who it is for, for people.
    fileprivate var hint: String {
        switch self {
        case .lookup: "apps: look channels up"
        case .device: "apps: register installations, and look channels up"
        case .organise: "events and broadcasts"
        case .operate: "channels, quotas, reconciliations, audit log"
        case .admin: "everything, and apps and keys"
        }
    }
}

/// A key as it is listed.
struct KeyRow: Sendable {
    let name: String
    let href: String
    let prefix: String
    let scopes: String
    let apps: String
    let state: String
    let createdAt: Moment?
    let expiresAt: Moment?
    let lastUsedAt: Moment?
    /// The one that is signed in.
    let isOwn: Bool

    init(_ key: JSONValue, own: APIKey) {
        name = key.text("name")
        href = ConsolePath.key(key.text("id"))
        prefix = key.text("prefix") + "…"
        scopes = key.texts("scopes").joined(separator: ", ")
        let bound = key.texts("bundleIds")
        apps = bound.isEmpty ? "all" : bound.joined(separator: ", ")
        state = key["replacedBy"]?.string == nil ? key.text("state") : "\(key.text("state")), replaced"
        createdAt = key.moment("createdAt")
        expiresAt = key.moment("expiresAt")
        lastUsedAt = key.moment("lastUsedAt")
        isOwn = key.text("id").lowercased() == own.id.uuidString.lowercased()
    }
}

/// One key, with what can be done to it.
struct KeyDetail: ConsolePage {
    var template: TemplateName { .key }
    let title: String
    let key: KeyRow
    let isActive: Bool
    let mayRotate: Bool
    let successor: String?
    let revokedAt: Moment?
    let rotateAction: String
    let revokeAction: String
    let overlaps: [Overlap]

    init(_ json: JSONValue, _ visit: Visit) {
        key = KeyRow(json, own: visit.key)
        title = "Key \(key.name)"
        isActive = json.text("state") == APIKey.State.active.rawValue
        let replacedBy = json["replacedBy"]?.string
        mayRotate = isActive && replacedBy == nil
        successor = replacedBy.map(ConsolePath.key)
        revokedAt = json.moment("revokedAt")
        rotateAction = key.href + "/rotate"
        revokeAction = key.href + "/revoke"
        overlaps = Overlap.all
    }
}

/// How long an old secret goes on beside the new one.
struct Overlap: Sendable {
    let seconds: Int
    let text: String
    let isChosen: Bool

    static let all = [
        Overlap(seconds: 0, text: "not at all", isChosen: false),
        Overlap(seconds: 3_600, text: "an hour", isChosen: false),
        Overlap(seconds: 86_400, text: "a day", isChosen: true),
        Overlap(seconds: 604_800, text: "a week", isChosen: false),
    ]
}

/// A secret, the only time it is seen.
struct IssuedSecret: ConsolePage {
    var template: TemplateName { .secret }
    let title: String
    let secret: String
    let use: String
    let href: String

    init(_ title: String, secret: String, use: String, href: String) {
        self.title = title
        self.secret = secret
        self.use = use
        self.href = href
    }
}
