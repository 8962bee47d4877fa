internal import GrandstandContract
internal import JSON

extension Resource {
    /// `/console/apps/{bundleId}/{environment}/channels`: the channels of the ledger, or those that only Apple lists.
    static let channels = Resource(
        path: "/apps/:bundleId/:environment/channels", scope: .operate,
        links: ["The app": "/apps/:bundleId", "Reconciliations": "/apps/:bundleId/:environment/reconciliations"],
        title: { "Channels of \($0.text("bundleId")), \($0.text("environment"))" },
        list: { _ in
            Listing(
                operation: .listChannels, caption: "Channels of the ledger, or those that only Apple lists",
                nothing: "No channel fits.",
                filter: ["managed", "state", "storagePolicy", "eventKey", "channelId"],
                columns: [
                    Field("ID") { channel, visit in
                        let id = channel.text("id")
                        return id.isEmpty ? [] : [.link(id, visit.path + "/" + id)]
                    }
                ] + channelFields + [Field("firstSeenAt", as: "First seen")])
        },
        detail: Detail(
            operation: .getChannel, title: { channel, _ in "Channel \(channel.text("id"))" },
            facts: channelFields),
        actions: [
            Action(
                path: "/create", operation: .createChannel, label: "Create a channel by hand",
                words: ["It belongs to no event: whoever has its ID follows it, and broadcasts go to it alone."],
                notice: { channel, _ in "Apple has made the channel \(channel.text("channelId"))." }),
            Action(
                path: "/import", operation: .importChannel, label: "Import a channel",
                words: ["Takes a channel that Apple lists into the ledger, for the event or for none."], hasPage: true,
                notice: { _, _ in "The channel is in the ledger." }),
            Action(
                path: "/:id/verify", operation: .getChannel, label: "Ask Apple", presets: "verify=true",
                notice: { channel, _ in
                    "Apple \(channel["verified"]?.flag("exists") == true ? "has" : "does not have") the channel."
                }),
            Action(
                path: "/:id/delete", operation: .deleteChannel, label: "Delete the channel",
                words: [
                    "Deletes the channel at Apple. Whoever follows it gets nothing more; Apple cannot give a channel "
                        + "back. The channel of an event that is over retires by itself."
                ], hasPage: true, isIrreversible: true,
                isOffered: { $0.object?.text("state") != Contract.ChannelState.deleted.rawValue },
                notice: { _, _ in "The channel is deleted." }),
        ])

    private static let channelFields: [Field] = [
        Field("channelId", as: "Apple's ID"), "state", "storagePolicy", Field("eventKey", as: "Event"), "variant",
        "label", Field("reason", as: "Why"), Field("nextAttemptAt", as: "Next step"), Field("createdAt", as: "Created"),
    ]
}
