internal import ArgumentParser
internal import GrandstandClient

/// `grandstand channel`: channels that people create, delete or import.
struct ChannelCommand: AsyncParsableCommand, Noun, Listed, Shown, Deletable {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Channels of an app in an environment.",
        subcommands: [
            ListCommand<Self>.self, ShowCommand<Self>.self, ShowCommand<Create>.self, ShowCommand<Import>.self,
            DeleteCommand<Self>.self, Send.self,
        ])

    static let id: ArgumentHelp = "Grandstand's ID of the channel."
    static let list = Verb<Filter, _>(
        "list", "Lists channels.",
        columns: ["id", "channelId", "storagePolicy", "state", "eventKey", "variant", "label"]
    ) {
        .listChannels(
            in: $0.target.app, state: $0.state?.value, storagePolicy: $0.storagePolicy?.value, eventKey: $0.event,
            channelId: $0.channelID, managed: $0.unmanaged ? false : nil)
    }
    static let show = Verb<Subject, _>("get", "Shows a channel.") {
        .getChannel($0.channel.id, in: $0.channel.target.app, verify: $0.verify ? true : nil)
    }
    static let delete = Verb<Target, _>("delete", "Deletes a channel at Apple.") {
        .deleteChannel($0.channel.id, in: $0.channel.target.app, force: $0.force ? true : nil)
    }

    struct Filter: ParsableArguments {
        @OptionGroup var target: AppOptions
        @Option(help: "Only channels in this state.") var state: Word<Contract.ChannelState>?
        @Option(help: "Only channels with this policy.") var storagePolicy: Word<Contract.StoragePolicy>?
        @Option(help: "Only the channels of this event.") var event: String?
        @Option(help: "Only the channel with this ID at Apple.") var channelID: String?
        @Flag(help: "Only channels that Apple has and the server does not know.") var unmanaged = false
    }

    struct Subject: ParsableArguments {
        @OptionGroup var channel: IDInApp<ChannelCommand>
        @Flag(help: "Also ask Apple whether the channel exists.") var verify = false
    }

    struct Target: ParsableArguments {
        @OptionGroup var channel: IDInApp<ChannelCommand>
        @Flag(help: "Delete it even if a live event needs it.") var force = false
    }

    struct Create: ParsableArguments, Shown {
        @OptionGroup var target: AppOptions
        @Option(help: "noMessageStored or mostRecentMessageStored.") var storagePolicy: Word<Contract.StoragePolicy>
        @Option(help: "A label for people.") var label: String?

        static let show = Verb<Self, _>("create", "Creates a channel at Apple.") {
            .createChannel(in: $0.target.app, storagePolicy: $0.storagePolicy.value, label: $0.label)
        }
    }

    struct Import: ParsableArguments, Shown {
        @OptionGroup var target: AppOptions
        @Argument(help: "Apple's ID of the channel.") var channelID: String
        @Option(help: "A label for people.") var label: String?
        @Option(help: "The event that it serves.") var event: String?
        @Option(help: "With --event: the variant of the audience that it serves.") var variant: String?

        static let show = Verb<Self, _>("import", "Takes over a channel that was created elsewhere.") {
            .importChannel($0.channelID, in: $0.target.app, label: $0.label, eventKey: $0.event, variant: $0.variant)
        }
    }

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sends an update, or the end, to a channel that belongs to no event.",
            discussion: MessageOptions.discussion)
        @OptionGroup var client: ClientOptions
        @OptionGroup var message: MessageOptions
        @OptionGroup var channel: IDInApp<ChannelCommand>
        @Flag(help: "Wait until every delivery has its final state, also with --send-at, and print progress.")
        var wait = false

        func run() async throws {
            try await client.settle(
                try await client.answer(
                    .broadcastToChannel(channel.id, in: channel.target.app, json: try message.draft().json)), if: wait)
        }
    }
}
