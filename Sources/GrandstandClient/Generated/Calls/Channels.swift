// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.Channel {
    /// Creates a channel at Apple, within the quota.
    public static func createChannel(
        in app: GrandstandClient.AppEnvironment, storagePolicy: Contract.StoragePolicy, label: String? = nil
    ) -> Self {
        Self(
            .createChannel, "/v1/apps/\(app)/channels",
            body: Contract.ChannelDraft(storagePolicy: storagePolicy, label: label))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.ChannelPage {
    /// Lists channels. managed=false lists those that only Apple's list has.
    public static func listChannels(
        in app: GrandstandClient.AppEnvironment, state: Contract.ChannelState? = nil,
        storagePolicy: Contract.StoragePolicy? = nil, eventKey: String? = nil, channelId: String? = nil,
        managed: Bool? = nil
    ) -> Self {
        Self(
            .listChannels, "/v1/apps/\(app)/channels",
            [
                ("state", state), ("storagePolicy", storagePolicy), ("eventKey", eventKey), ("channelId", channelId),
                ("managed", managed),
            ])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Channel {
    /// Takes over a channel that another system created.
    public static func importChannel(
        _ channelId: String, in app: GrandstandClient.AppEnvironment, label: String? = nil, eventKey: String? = nil,
        variant: String? = nil
    ) -> Self {
        Self(
            .importChannel, "/v1/apps/\(app)/channels/import",
            body: Contract.ChannelImport(channelId: channelId, label: label, eventKey: eventKey, variant: variant))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Channel {
    /// Shows a channel. With verify=true the server asks Apple.
    public static func getChannel(_ id: String, in app: GrandstandClient.AppEnvironment, verify: Bool? = nil) -> Self {
        Self(.getChannel, "/v1/apps/\(app)/channels/\(id)", [("verify", verify)])
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Deletes a channel at Apple.
    public static func deleteChannel(_ id: String, in app: GrandstandClient.AppEnvironment, force: Bool? = nil) -> Self
    {
        Self(.deleteChannel, "/v1/apps/\(app)/channels/\(id)", [("force", force)])
    }
}
