extension GrandstandClient.Call where Value == GrandstandClient.Channel {
    /// Creates a channel at Apple within the quota.
    public static func createChannel(
        in app: GrandstandClient.AppEnvironment, _ draft: GrandstandClient.ChannelDraft
    ) -> Self {
        Self("createChannel", .post, "/v1/apps/\(app)/channels", body: draft.body)
    }

    /// Takes over a channel made elsewhere.
    public static func importChannel(
        in app: GrandstandClient.AppEnvironment, _ draft: GrandstandClient.ChannelImport
    ) -> Self {
        Self("importChannel", .post, "/v1/apps/\(app)/channels/import", body: draft.body)
    }

    /// Shows a channel; with `verify` Apple is asked, too.
    public static func getChannel(
        _ id: String, in app: GrandstandClient.AppEnvironment, verify: Bool? = nil
    ) -> Self {
        Self("getChannel", .get, "/v1/apps/\(app)/channels/\(id)", [("verify", verify?.description)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Channel> {
    /// Lists channels; with `managed: false` those that only Apple knows.
    public static func listChannels(
        in app: GrandstandClient.AppEnvironment, state: GrandstandClient.ChannelState? = nil,
        storagePolicy: GrandstandClient.StoragePolicy? = nil, eventKey: String? = nil, channelId: String? = nil,
        managed: Bool? = nil, limit: Int? = nil, cursor: String? = nil
    ) -> Self {
        Self(
            "listChannels", .get, "/v1/apps/\(app)/channels",
            [
                ("limit", limit?.description), ("cursor", cursor), ("state", state?.rawValue),
                ("storagePolicy", storagePolicy?.rawValue), ("eventKey", eventKey), ("channelId", channelId),
                ("managed", managed?.description),
            ])
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Deletes a channel at Apple; with `force` although a live event needs it.
    public static func deleteChannel(
        _ id: String, in app: GrandstandClient.AppEnvironment, force: Bool? = nil
    ) -> Self {
        Self("deleteChannel", .delete, "/v1/apps/\(app)/channels/\(id)", [("force", force?.description)])
    }
}
