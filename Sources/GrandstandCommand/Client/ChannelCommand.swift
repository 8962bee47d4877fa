internal import ArgumentParser
internal import GrandstandClient

/// `grandstand channel`: channels by hand.
struct ChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Channels of an app in an environment.",
        subcommands: [List.self, Get.self, Create.self, Import.self, Delete.self, Send.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists channels.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: AppOptions
        @OptionGroup var page: PageOptions
        @Option(help: "Only channels in this state.") var state: String?
        @Option(help: "Only channels with this policy.") var storagePolicy: String?
        @Option(help: "Only the channels of this event.") var event: String?
        @Option(help: "Only the channel with this ID of Apple's.") var channelID: String?
        @Flag(help: "Only channels that Apple has and the server does not know.") var unmanaged = false

        func run() async throws {
            try await client.list(
                .listChannels(
                    in: target.app, state: state.map { .init(rawValue: $0) },
                    storagePolicy: storagePolicy.map { .init(rawValue: $0) }, eventKey: event, channelId: channelID,
                    managed: unmanaged ? false : nil), page,
                ["id", "channelId", "storagePolicy", "state", "eventKey", "variant", "label"])
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a channel.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: AppOptions
        @Argument(help: "Our ID of the channel.") var id: String
        @Flag(help: "Ask Apple, too.") var verify = false

        func run() async throws { try await client.show(.getChannel(id, in: target.app, verify: verify ? true : nil)) }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Creates a channel at Apple.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: AppOptions
        @Option(help: "noMessageStored or mostRecentMessageStored.") var storagePolicy: String
        @Option(help: "What people know the channel by.") var label: String?

        func run() async throws {
            try await client.show(
                .createChannel(in: target.app, storagePolicy: .init(rawValue: storagePolicy), label: label))
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Takes over a channel made elsewhere.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: AppOptions
        @Argument(help: "Apple's ID of the channel.") var channelID: String
        @Option(help: "What people know the channel by.") var label: String?
        @Option(help: "The event it is for.") var event: String?
        @Option(help: "With --event: the variant of the audience it is for.") var variant: String?

        func run() async throws {
            try await client.show(
                .importChannel(channelID, in: target.app, label: label, eventKey: event, variant: variant))
        }
    }

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sends an update, or the end, to a channel that belongs to no event.",
            discussion: "JSON is an argument, @file, or - for standard input; it reaches the app byte for byte.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var message: MessageOptions
        @OptionGroup var target: AppOptions
        @Argument(help: "Our ID of the channel.") var id: String
        @Flag(help: "Wait until nothing more happens to it, with --send-at until after that; say how far it is.")
        var wait = false

        func run() async throws {
            try await client.settle(
                try await client.answer(
                    .broadcastToChannel(id, in: target.app, json: try message.draft().json)), if: wait)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Deletes a channel at Apple.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: AppOptions
        @Argument(help: "Our ID of the channel.") var id: String
        @Flag(help: "Although a live event needs it.") var force = false

        func run() async throws { try await client.send(.deleteChannel(id, in: target.app, force: force ? true : nil)) }
    }
}
