public import Foundation

extension GrandstandClient.Call where Value == GrandstandClient.IssuedKey {
    /// Makes a key; its secret is in this answer only.
    ///
    /// - Parameters:
    ///   - name: what people know it by.
    ///   - bundleId: the one app it is bound to; required with the scope device.
    ///   - bundleIds: the apps it is bound to, instead. Without either it is bound to none and reaches all.
    ///   - expiresAt: when it ends by itself.
    public static func createKey(
        name: String, scopes: [GrandstandClient.Scope], bundleId: String? = nil, bundleIds: [String]? = nil,
        expiresAt: Date? = nil
    ) -> Self {
        Self(
            "createKey", .post, "/v1/keys",
            body: Members([
                "name": name, "scopes": scopes, "bundleId": bundleId, "bundleIds": bundleIds, "expiresAt": expiresAt,
            ]))
    }

    /// Makes a new key in place of one, which goes on for the overlap.
    public static func rotateKey(_ id: String, overlapSeconds: Int? = nil) -> Self {
        Self("rotateKey", .post, "/v1/keys/\(id)/rotations", body: Members(["overlapSeconds": overlapSeconds]))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Key> {
    /// Lists keys, the newest first.
    public static func listKeys() -> Self { Self("listKeys", .get, "/v1/keys") }
}

extension GrandstandClient.Call where Value == GrandstandClient.Key {
    /// Shows a key.
    public static func getKey(_ id: String) -> Self { Self("getKey", .get, "/v1/keys/\(id)") }
}

extension GrandstandClient.Call where Value == Void {
    /// Ends a key at once, on every replica within a second.
    public static func revokeKey(_ id: String) -> Self { Self("revokeKey", .delete, "/v1/keys/\(id)") }
}
