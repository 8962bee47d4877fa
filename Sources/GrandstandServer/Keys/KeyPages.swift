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
                columns: [.link("name")] + keyFields)
        },
        detail: Detail(
            operation: .getKey, title: { key, _ in "Key \(key.text("name"))" },
            facts: keyFields + [Field("revokedAt", as: "Revoked")]),
        actions: [
            Action(
                path: "", operation: .createKey, label: "Make the key",
                secretUse: "Callers send it as Authorization: Bearer …; people sign in with it.",
                notice: { key, _ in "The key \(key.text("name"))" }),
            Action(
                path: "/:id/rotate", operation: .rotateKey, label: "Rotate the key",
                words: ["Makes a key with the same name, scopes and apps. Sessions of this key end at once."],
                isIrreversible: true,
                secretUse: "Give it to everybody who uses the old one.",
                notice: { key, _ in "The key \(key.text("name")), rotated" }),
            Action(
                path: "/:id/revoke", operation: .revokeKey, label: "Revoke the key",
                words: [
                    "Ends the key at once, and the sessions of everybody who signed in with it.",
                    "The webhooks that it declared are still told, unless you disable them.",
                ],
                isIrreversible: true,
                notice: { _, _ in "The key was revoked. Nobody has access with it any more." }),
        ])

    private static let keyFields: [Field] = [
        Field("State") { key, _ in
            let state = key.text("state")
            return [.state(key["replacedBy"]?.string == nil ? state : state + ", replaced")]
        }, Field("prefix", as: "Secret begins"), "scopes", .apps, Field("eventKeyPrefix", as: "Event keys"),
        Field("lastUsedAt", as: "Last used", else: "never"), Field("createdAt", as: "Created"),
        Field("expiresAt", as: "Expires", else: "never"),
    ]
}
