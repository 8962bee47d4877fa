internal import ArgumentParser
internal import Grandstand

/// `grandstand channel`: channels by hand.
struct ChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Channels of an app in an environment.",
        subcommands: [List.self, Get.self, Create.self, Import.self, Delete.self, Send.self])

    private static let columns = ["id", "channelId", "storagePolicy", "state", "eventKey", "variant", "label"]

    /// Whose channels.
    struct Target: ParsableArguments {
        @Argument(help: "The bundle ID.") var bundleID: String
        @Argument(help: "development or production.") var environment: String

        var path: String { "/v1/apps/\(encoded(bundleID))/\(encoded(environment))/channels" }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists channels.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @OptionGroup var page: PageOptions
        @Option(help: "Only channels in this state.") var state: String?
        @Option(help: "Only channels with this policy.") var storagePolicy: String?
        @Option(help: "Only the channels of this event.") var event: String?
        @Option(help: "Only the channel with this ID of Apple's.") var channelID: String?
        @Flag(help: "Only channels that Apple has and the server does not know.") var unmanaged = false

        func run() async throws {
            let query: [(name: String, value: String?)] = [
                ("state", state), ("storagePolicy", storagePolicy), ("eventKey", event), ("channelId", channelID),
                ("managed", unmanaged ? "false" : nil),
            ]
            client.show(
                try await client.call("GET", target.path, query: page.query + query), ChannelCommand.columns)
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a channel.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Argument(help: "Our ID of the channel.") var id: String
        @Flag(help: "Ask Apple, too.") var verify = false

        func run() async throws {
            let query: [(name: String, value: String?)] = [("verify", verify ? "true" : nil)]
            client.show(
                try await client.call("GET", "\(target.path)/\(encoded(id))", query: query), ChannelCommand.columns)
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Creates a channel at Apple.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Option(help: "noMessageStored or mostRecentMessageStored.") var storagePolicy: String
        @Option(help: "What people know the channel by.") var label: String?

        func run() async throws {
            var body = JSONWriter()
            body.object { object in
                object.member("storagePolicy", storagePolicy)
                object.member("label", label)
            }
            client.show(try await client.call("POST", target.path, body: body.bytes), ChannelCommand.columns)
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Takes over a channel made elsewhere.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Argument(help: "Apple's ID of the channel.") var channelID: String
        @Option(help: "What people know the channel by.") var label: String?
        @Option(help: "The event it is for.") var event: String?
        @Option(help: "With --event: the variant of the audience it is for.") var variant: String?

        func run() async throws {
            var body = JSONWriter()
            body.object { object in
                object.member("channelId", channelID)
                object.member("label", label)
                object.member("eventKey", event)
                object.member("variant", variant)
            }
            client.show(
                try await client.call("POST", "\(target.path)/import", body: body.bytes), ChannelCommand.columns)
        }
    }

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sends an update, or the end, to a channel that belongs to no event.",
            discussion: "JSON is an argument, @file, or - for standard input; it reaches the app byte for byte.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var message: MessageOptions
        @OptionGroup var target: Target
        @Argument(help: "Our ID of the channel.") var id: String

        func run() async throws {
            client.show(
                try await client.call(
                    "POST", "\(target.path)/\(encoded(id))/broadcasts", body: try message.draft().bytes),
                BroadcastCommand.columns)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Deletes a channel at Apple.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Argument(help: "Our ID of the channel.") var id: String
        @Flag(help: "Although a live event needs it.") var force = false

        func run() async throws {
            let query: [(name: String, value: String?)] = [("force", force ? "true" : nil)]
            _ = try await client.call("DELETE", "\(target.path)/\(encoded(id))", query: query)
        }
    }
}
