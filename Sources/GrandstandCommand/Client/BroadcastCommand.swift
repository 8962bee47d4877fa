internal import ArgumentParser
internal import Grandstand

/// `grandstand broadcast`: updates and ends.
struct BroadcastCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broadcast", abstract: "Broadcasts to events.",
        subcommands: [Send.self, List.self, Get.self, Cancel.self])

    private static let columns = ["id", "event", "state", "acceptedAt", "counts"]

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sends an update, or the end, of an event.",
            discussion: "JSON is an argument, @file, or - for standard input; it reaches the app byte for byte.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The event key.") var key: String
        @Option(help: "The content state, a JSON object.") var contentState: String?
        @Flag(help: "This is the last message of the event.") var end = false
        @Option(help: "The alert, a JSON object.") var alert: String?
        @Option(help: "1, 5 or 10.") var priority: Int?
        @Option(help: "Seconds after which it is not worth sending any more.") var expiresIn: Int?
        @Option(help: "RFC 3339.") var sendAt: String?
        @Option(help: "RFC 3339; with --end.") var dismissalDate: String?

        func run() async throws {
            let state = try contentState.map { try json("--content-state", $0) }
            let alert = try alert.map { try json("--alert", $0) }
            var body = JSONWriter()
            body.object { object in
                object.member("event", end ? "end" : "update")
                if let state { object.member("contentState", raw: state) }
                if let alert { object.member("alert", raw: alert) }
                object.member("priority", priority)
                object.member("expiresIn", expiresIn)
                object.member("sendAt", sendAt)
                object.member("dismissalDate", dismissalDate)
            }
            client.show(
                try await client.call("POST", "/v1/events/\(encoded(key))/broadcasts", body: body.bytes),
                BroadcastCommand.columns)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the broadcasts of an event.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions
        @Argument(help: "The event key.") var key: String

        func run() async throws {
            client.show(
                try await client.call("GET", "/v1/events/\(encoded(key))/broadcasts", query: page.query),
                BroadcastCommand.columns)
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a broadcast and its deliveries.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The broadcast's ID.") var id: String

        func run() async throws {
            client.show(try await client.call("GET", "/v1/broadcasts/\(encoded(id))"), BroadcastCommand.columns)
        }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Withdraws a broadcast of which nothing was sent.", aliases: ["delete"])
        @OptionGroup var client: ClientOptions
        @Argument(help: "The broadcast's ID.") var id: String

        func run() async throws { _ = try await client.call("DELETE", "/v1/broadcasts/\(encoded(id))") }
    }
}
