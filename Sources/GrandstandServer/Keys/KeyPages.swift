internal import Grandstand
internal import GrandstandContract
internal import JSON

extension Resource {
    /// `/console/keys`
    static let keys = Resource(
        path: "/keys", scope: .admin, title: { _ in "Keys" },
        list: { _ in
            Listing(
                operation: .listKeys, caption: "Keys, the newest first; secrets are not stored",
                nothing: "You can see no keys.",
                columns: [.link("name")] + ofKeys)
        },
        detail: Detail(
            operation: .getKey, title: { key, _ in "Key \(key.text("name"))" },
            facts: ofKeys + [
                Field("revokedAt", as: "Revoked"),
                Field("Replaced by") { key, visit in
                    guard let id = key["replacedBy"]?.string else { return [] }
                    return [.link("another key", visit.fill("/keys/:id", ["id": id]))]
                },
            ],
            below: [
                Listing(
                    operation: .listWebhooks, heading: "Webhooks", caption: "Webhooks that this key declared",
                    nothing: "None.", query: { ["declaredBy": $0.text("id")] },
                    columns: [.link("url", to: "/webhooks/:id"), "topics", .apps, isOn])
            ]),
        actions: [
            Action(
                path: "", operation: .createKey, label: "Make the key",
                secret: "Callers send it as Authorization: Bearer …; people sign in to the console with it.",
                notice: { key, _ in "The key \(key.text("name"))" }),
            Action(
                path: "/:id/rotate", operation: .rotateKey, label: "Rotate the key",
                words: ["Makes a key with the same name, scopes and apps. Sessions of this key end at once."],
                isIrreversible: true,
                isOffered: { $0.isActive && $0.object?["replacedBy"]?.string == nil },
                secret: "It replaces the old secret: give it to everybody who uses that one. Console sessions with the "
                    + "old secret have ended.", notice: { key, _ in "The key \(key.text("name")), rotated" }),
            Action(
                path: "/:id/revoke", operation: .revokeKey, label: "Revoke the key",
                words: [
                    "Ends the key at once, for every caller that has it. If it is the key you signed in with, you are "
                        + "signed out. The webhooks that it declared are still told, unless you disable them."
                ],
                flags: ["disableWebhooks"], isIrreversible: true,
                isOffered: { $0.isActive || $0.below.contains { $0.flag("enabled") } },
                notice: { _, fields in
                    fields["disableWebhooks"] == "true"
                        ? "The key was revoked, and the webhooks that it declared were disabled."
                        : "The key was revoked. Nobody has access with it any more."
                }),
        ])

    private static let ofKeys: [Field] = [
        Field("State") { key, visit in
            let state = key.text("state")
            return [
                .state(key["replacedBy"]?.string == nil ? state : state + ", replaced"),
                .words(key.isOwn(visit) ? "(yours)" : ""),
            ]
        }, Field("prefix", as: "Secret begins"), "scopes", .apps, Field("eventKeyPrefix", as: "Event keys"),
        Field("lastUsedAt", as: "Last used", else: "never"), Field("createdAt", as: "Created"),
        Field("expiresAt", as: "Expires", else: "never"),
    ]
}

extension Shown {
    /// Whether the key that is shown can be used.
    fileprivate var isActive: Bool { object?.text("state") == Contract.KeyState.active.rawValue }
}

extension JSONValue {
    /// Whether the reader is signed in with this key.
    fileprivate func isOwn(_ visit: Visit) -> Bool { text("id") == visit.key.id.words }
}
