internal import Grandstand
internal import GrandstandContract
internal import JSON

/// `/console/keys`: the API keys.
struct KeyPages: PageGroup {
    let keys: CachedKeyStore
    let webhooks: WebhookStore

    var routes: [PageRoute] {
        [PageRoute("/keys", .admin, list), PageRoute("/keys/:id", .admin, show)]
    }

    var actions: [ActionRoute] {
        [
            ActionRoute("/keys", .admin, create),
            ActionRoute("/keys/:id/rotate", .admin, irreversible: true, rotate),
            ActionRoute("/keys/:id/revoke", .admin, irreversible: true, revoke),
        ]
    }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        .page(KeyList(try await keys.list(visit.page, visit.caller(of: .listKeys)), visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let id = try visit.id(orThrow: .keyNotFound)
        let key = try await keys.key(id, visit.caller(of: .getKey))
        let declared = try await webhooks.list(
            PageRequest(limit: 200, cursor: nil), declaredBy: id, visit.caller(of: .listWebhooks))
        return .page(KeyDetail(key, declared.items, visit))
    }

    private func create(_ submission: Submission) async throws -> PageRoute.Answer {
        let fields = submission.fields
        let draft = try Contract.KeyDraft(
            body: try .body { object in
                object.member("name", fields["name"] ?? "")
                object.member("scopes", fields.all("scope"))
                object.member(apps: fields["bundleIds"])
                if let prefix = fields["eventKeyPrefix"] { object.member("eventKeyPrefix", prefix) }
                if let expiresAt = fields["expiresAt"] { object.member("expiresAt", FormTime.utc(expiresAt)) }
            }, now: keys.now())
        let issued = try await submission.once(.createKey) { try await keys.create(draft, $0) }
        return .page(
            IssuedSecret(
                title: "The key \(issued.name)", secret: issued.secret, warnings: issued.warnings,
                purpose: "Callers send it as Authorization: Bearer …; people sign in to the console with it.",
                href: ConsolePath.key(issued.id)))
    }

    private func rotate(_ submission: Submission) async throws -> PageRoute.Answer {
        let id = try submission.visit.id(orThrow: .keyNotFound)
        let overlap = try Contract.RotationDraft.read(try submission.fields.overlap()).overlapSeconds
        let issued = try await submission.once(.rotateKey) { try await keys.rotate(id, overlap: overlap, $0) }
        return .page(
            IssuedSecret(
                title: "The key \(issued.name), rotated", secret: issued.secret, warnings: issued.warnings,
                purpose:
                    "It replaces the old secret: give it to everybody who uses that one. Console sessions with "
                    + "the old secret have ended.",
                href: ConsolePath.key(issued.id)))
    }

    private func revoke(_ submission: Submission) async throws -> PageRoute.Answer {
        let id = try submission.visit.id(orThrow: .keyNotFound)
        let disablingWebhooks = submission.fields["disableWebhooks"] == "true"
        try await keys.revoke(
            id, disablingWebhooks: disablingWebhooks, submission.visit.caller(of: .revokeKey))
        return .done(
            ConsolePath.keys,
            notice: disablingWebhooks
                ? "The key was revoked, and the webhooks that it declared were disabled."
                : "The key was revoked. Nobody has access with it any more.")
    }
}
