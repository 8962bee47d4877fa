extension GrandstandClient.Call where Value == GrandstandClient.IssuedKey {
    /// Makes a key; its secret is in this answer only.
    public static func createKey(_ draft: GrandstandClient.KeyDraft) -> Self {
        Self("createKey", .post, "/v1/keys", body: draft.body)
    }

    /// Makes a new key in place of one, which goes on for the overlap.
    public static func rotateKey(_ id: String, _ rotation: GrandstandClient.RotationDraft = .init()) -> Self {
        Self("rotateKey", .post, "/v1/keys/\(id)/rotations", body: rotation.body)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Key> {
    /// Lists keys, the newest first.
    public static func listKeys(limit: Int? = nil, cursor: String? = nil) -> Self {
        Self("listKeys", .get, "/v1/keys", [("limit", limit?.description), ("cursor", cursor)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Key {
    /// Shows a key.
    public static func getKey(_ id: String) -> Self { Self("getKey", .get, "/v1/keys/\(id)") }
}

extension GrandstandClient.Call where Value == Void {
    /// Ends a key at once, on every replica within a second.
    public static func revokeKey(_ id: String) -> Self { Self("revokeKey", .delete, "/v1/keys/\(id)") }
}
