extension GrandstandClient.Call where Value == GrandstandClient.Channel {
    /// Creates a channel at Apple within the quota.
    ///
    /// - Parameter label: what people know it by.
    public static func createChannel(
        in app: GrandstandClient.AppEnvironment, storagePolicy: GrandstandClient.StoragePolicy, label: String? = nil
    ) -> Self {
        Self(
            "createChannel", .post, "/v1/apps/\(app)/channels",
            body: Members(["storagePolicy": storagePolicy, "label": label]))
    }

    /// Takes over a channel made elsewhere.
    ///
    /// - Parameters:
    ///   - channelId: Apple's ID of it.
    ///   - label: what people know it by.
    ///   - eventKey: the event it is for.
    ///   - variant: with an event: of the audience that it is for; without it the one without a variant.
    public static func importChannel(
        _ channelId: String, in app: GrandstandClient.AppEnvironment, label: String? = nil, eventKey: String? = nil,
        variant: String? = nil
    ) -> Self {
        Self(
            "importChannel", .post, "/v1/apps/\(app)/channels/import",
            body: Members(["channelId": channelId, "label": label, "eventKey": eventKey, "variant": variant]))
    }

    /// Shows a channel; with `verify` Apple is asked, too.
    public static func getChannel(
        _ id: String, in app: GrandstandClient.AppEnvironment, verify: Bool? = nil
    ) -> Self {
        Self("getChannel", .get, "/v1/apps/\(app)/channels/\(id)", [("verify", verify)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Channel> {
    /// Lists channels; with `managed: false` those that only Apple knows.
    public static func listChannels(
        in app: GrandstandClient.AppEnvironment, state: GrandstandClient.ChannelState? = nil,
        storagePolicy: GrandstandClient.StoragePolicy? = nil, eventKey: String? = nil, channelId: String? = nil,
        managed: Bool? = nil
    ) -> Self {
        Self(
            "listChannels", .get, "/v1/apps/\(app)/channels",
            [
                ("state", state),
                ("storagePolicy", storagePolicy), ("eventKey", eventKey), ("channelId", channelId),
                ("managed", managed),
            ])
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Deletes a channel at Apple; with `force` although a live event needs it.
    public static func deleteChannel(
        _ id: String, in app: GrandstandClient.AppEnvironment, force: Bool? = nil
    ) -> Self {
        Self("deleteChannel", .delete, "/v1/apps/\(app)/channels/\(id)", [("force", force)])
    }
}
