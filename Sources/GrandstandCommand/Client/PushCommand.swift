internal import ArgumentParser
internal import GrandstandClient

/// `grandstand push`: single pushes to tokens that somebody else keeps.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Single pushes, for teams that keep their tokens themselves.",
        subcommands: [Send.self, Get.self, Cancel.self])

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Starts, updates or ends one activity.",
            discussion: "JSON is an argument, @file, or - for standard input; it reaches the app byte for byte.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var message: MessageOptions
        @OptionGroup var target: AppOptions
        @Argument(help: "The token, in hexadecimal digits.") var token: String
        @Flag(help: "This starts an activity.") var start = false
        @Option(help: "The type of its attributes; with --start.") var attributesType: String?
        @Option(help: "Its attributes, a JSON object; with --start.") var attributes: String?
        @Option(help: "Apple's ID of the channel it is to listen to; with --start, for iOS 18 and later.")
        var inputPushChannel: String?
        @Flag(help: "It is to get a token of its own; with --start, for iOS 18 and later.") var inputPushToken = false

        func validate() throws {
            if start, message.end { throw ValidationError("--start and --end exclude each other.") }
        }

        func run() async throws {
            var draft = try message.draft()
            draft.set("token", token)
            if start { draft.set("event", "start") }
            draft.set("attributesType", attributesType)
            draft.set("attributes", raw: try attributes.map { try json("--attributes", $0) })
            draft.set("inputPushChannel", inputPushChannel)
            if inputPushToken { draft.set("inputPushToken", true) }
            try await client.show(.push(to: target.app, json: try draft.json))
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a push and what has become of it.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The push's ID.") var id: String

        func run() async throws { try await client.show(.getPush(id)) }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Withdraws a push of which nothing was sent.", aliases: ["delete"])
        @OptionGroup var client: ClientOptions
        @Argument(help: "The push's ID.") var id: String

        func run() async throws { try await client.send(.cancelPush(id)) }
    }
}
