internal import Grandstand
internal import GrandstandContract
internal import JSON

extension Resource {
    /// `/console/apps/{bundleId}/{environment}/channels`: the channels of the ledger, or those that only Apple lists.
    static let channels = Resource(
        path: "/apps/:bundleId/:environment/channels", scope: .operate,
        links: ["The app": "/apps/:bundleId", "Reconciliations": "/apps/:bundleId/:environment/reconciliations"],
        title: { "Channels of \($0.text("bundleId")), \($0.text("environment"))" },
        list: { $0.query["managed"] == "false" ? unmanaged : ledger },
        detail: Detail(
            operation: .getChannel, title: { channel, _ in "Channel \(channel.text("id"))" },
            facts: ofChannels),
        actions: [
            Action(
                path: "/create", operation: .createChannel, label: "Create a channel by hand",
                words: [
                    "It belongs to no event: whoever has its ID follows it, and broadcasts go to it alone. Events make "
                        + "their own."
                ],
                notice: { channel, _ in "Apple has made the channel \(channel.text("channelId"))." }),
            Action(
                path: "/import", operation: .importChannel, label: "Import a channel",
                words: [
                    "Takes a channel into the ledger that Apple lists, its storage policy read from Apple, for the event "
                        + "or for none. A reconciliation adopts or deletes them all."
                ], asks: true,
                notice: { _, _ in "The channel is in the ledger, its storage policy read from Apple." }),
            Action(
                path: "/:id/verify", operation: .getChannel, label: "Ask Apple", fixed: "verify=true",
                notice: { channel, _ in
                    let verified = channel["verified"]
                    let policy = verified?["storagePolicy"]?.string.map { ", with \($0)" } ?? ""
                    return verified?.flag("exists") == true
                        ? "Apple has the channel\(policy)." : "Apple does not have the channel."
                }),
            Action(
                path: "/:id/delete", operation: .deleteChannel, label: "Delete the channel",
                words: [
                    "Deletes the channel at Apple. Whoever follows it gets nothing more; Apple cannot give a channel "
                        + "back.",
                    "A channel that an event uses cannot be deleted here: end or cancel the event, and the channel "
                        + "retires by itself.",
                ], asks: true, isIrreversible: true, isOffered: isThere,
                notice: { _, _ in "The channel is deleted." }),
            Action(
                path: "/:id/force-delete", operation: .deleteChannel, label: "Delete the channel by force",
                words: [
                    "Deletes the channel at Apple although an event uses it. Activities that follow it get nothing more. "
                        + "An event that goes on gets another channel. Only apps that look the event up again find it.",
                    "Apple cannot give a channel back.",
                ], fixed: "force=true", asks: true, isIrreversible: true, isOffered: isThere,
                notice: { _, _ in "The channel is deleted." }),
        ])

    private static let isThere: @Sendable (Shown) -> Bool = {
        $0.object?.text("state") != Contract.ChannelState.deleted.rawValue
    }

    private static let ledger = Listing(
        operation: .listChannels, caption: "Channels of the ledger", nothing: "No channel fits.",
        filter: ["managed", "state", "storagePolicy", "eventKey", "channelId"],
        columns: [.link("id")] + ofChannels)

    private static let unmanaged = Listing(
        operation: .listChannels, caption: "Channels that Apple lists and the ledger does not know",
        nothing: "At the last reconciliation Apple listed no channel that the ledger does not know.",
        filter: ["managed"],
        columns: [
            Field("channelId", as: "Apple's ID"), Field("storagePolicy", else: "not asked yet"),
            Field("firstSeenAt", as: "First seen"),
            Field("Do") { channel, visit in
                let query = [(name: "channelId", value: channel["channelId"]?.string)]
                return [.link("Import…", ConsolePath.link(visit.path + "/import", query))]
            },
        ])

    private static let ofChannels: [Field] = [
        Field("channelId", as: "Apple's ID"), "state", "storagePolicy", Field("eventKey", as: "Event"), "variant",
        "label",
        Field("Why") { channel, _ in
            Advice.pieces(
                channel["reason"]?.string, isActive: channel.text("state") == Contract.ChannelState.active.rawValue)
        }, Field("nextAttemptAt", as: "Next step"), Field("createdAt", as: "Created"),
    ]
}
