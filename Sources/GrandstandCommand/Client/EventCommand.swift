internal import ArgumentParser
internal import Grandstand

/// `grandstand event`: what people follow.
struct EventCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "Events of a running server.",
        subcommands: [List.self, Get.self, Put.self, Cancel.self])

    private static let columns = ["key", "state", "name", "kind", "startsAt", "endsAt"]

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists events.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions
        @Option(help: "scheduled, live, ended or cancelled.") var state: String?
        @Option(help: "Only events of this kind.") var kind: String?
        @Option(help: "Only events of this app.") var app: String?
        @Option(help: "Only events that start at or after this time (RFC 3339).") var from: String?
        @Option(help: "Only events that start before this time (RFC 3339).") var to: String?

        func run() async throws {
            let query: [(name: String, value: String?)] = [
                ("state", state), ("kind", kind), ("bundleId", app), ("from", from), ("to", to),
            ]
            client.show(
                try await client.call("GET", "/v1/events", query: page.query + query), EventCommand.columns)
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows an event and its channels.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The event key.") var key: String

        func run() async throws {
            client.show(try await client.call("GET", "/v1/events/\(encoded(key))"), EventCommand.columns)
        }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Declares an event; the server makes its channels so.",
            discussion: "An audience is BUNDLE:ENVIRONMENT:POLICY, e.g. com.example.App:production:noMessageStored.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The event key.") var key: String
        @Option(help: "What people know the event by.") var name: String
        @Option(help: "Who follows it; may be repeated.") var audience: [String]
        @Option(help: "A word for filtering, e.g. football.") var kind: String?
        @Option(help: "RFC 3339.") var startsAt: String?
        @Option(help: "RFC 3339.") var endsAt: String?
        @Option(help: "When channels are opened, RFC 3339; at once without it.") var channelsOpenAt: String?

        func validate() throws {
            for text in audience where Self.parts(text).count != 3 {
                throw ValidationError("--audience \(text): BUNDLE:ENVIRONMENT:POLICY was expected.")
            }
        }

        func run() async throws {
            var body = JSONWriter()
            body.object { object in
                object.member("name", name)
                object.member("kind", kind)
                object.member("startsAt", startsAt)
                object.member("endsAt", endsAt)
                object.member("channelsOpenAt", channelsOpenAt)
                object.name("audiences")
                object.array(audience.map(Self.parts)) { writer, parts in
                    writer.object { one in
                        one.member("bundleId", parts[0])
                        one.member("environment", parts[1])
                        one.member("storagePolicy", parts[2])
                    }
                }
            }
            client.show(
                try await client.call("PUT", "/v1/events/\(encoded(key))", body: body.bytes), EventCommand.columns)
        }

        private static func parts(_ text: String) -> [String] { text.split(separator: ":").map(String.init) }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancels an event and retires its channels.", aliases: ["delete"])
        @OptionGroup var client: ClientOptions
        @Argument(help: "The event key.") var key: String

        func run() async throws { _ = try await client.call("DELETE", "/v1/events/\(encoded(key))") }
    }
}
