// Generated from openapi.yaml by `make contract`. Do not edit.

public import Foundation
public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.IssuedKey {
    /// Creates a key. Only the first answer has its secret.
    public static func createKey(
        name: String, scopes: [Contract.Scope], bundleId: String? = nil, bundleIds: [String]? = nil,
        eventKeyPrefix: String? = nil, expiresAt: Date? = nil
    ) -> Self {
        Self(
            .createKey, "/v1/keys",
            body: Contract.KeyDraft(
                name: name, scopes: scopes, bundleId: bundleId, bundleIds: bundleIds, eventKeyPrefix: eventKeyPrefix,
                expiresAt: expiresAt))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.KeyPage {
    /// Lists keys, the newest first.
    public static func listKeys() -> Self {
        Self(.listKeys, "/v1/keys")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Key {
    /// Shows a key.
    public static func getKey(_ id: String) -> Self {
        Self(.getKey, "/v1/keys/\(id)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Revokes a key at once, on every replica within a second.
    public static func revokeKey(_ id: String, disableWebhooks: Bool? = nil) -> Self {
        Self(.revokeKey, "/v1/keys/\(id)", [("disableWebhooks", disableWebhooks)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.IssuedKey {
    /// Creates a new key in place of this one, which stays valid until the overlap is over.
    public static func rotateKey(_ id: String, overlapSeconds: Int? = nil) -> Self {
        Self(.rotateKey, "/v1/keys/\(id)/rotations", body: Contract.RotationDraft(overlapSeconds: overlapSeconds))
    }
}
