internal import ArgumentParser
internal import Grandstand

/// `grandstand start`: the push that starts an event's activity for everyone who follows.
struct StartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Starts an event's Live Activity for everyone who follows.",
        subcommands: [Preview.self, Now.self, Show.self, Stop.self])

    private static let columns = ["state", "startedAt", "finishedAt"]

    /// Whose start.
    struct Target: ParsableArguments {
        @Argument(help: "The event key.") var key: String

        var path: String { "/v1/events/\(encoded(key))/starts" }
    }

    struct Preview: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Counts who would get it; sends nothing.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws {
            client.show(
                try await client.call("POST", target.path, body: Array(#"{"dryRun":true}"#.utf8)), StartCommand.columns)
        }
    }

    struct Now: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Starts it now instead of at its time; lets one that was stopped go on.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws {
            client.show(try await client.call("POST", target.path, body: Array("{}".utf8)), StartCommand.columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows what has become of it.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { client.show(try await client.call("GET", target.path), StartCommand.columns) }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Stops what of it has not gone.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { _ = try await client.call("DELETE", target.path) }
    }
}

/// `grandstand topic`: what people follow.
struct TopicCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topic", abstract: "Topics that installations follow.", subcommands: [List.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists topics, the most followed first.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions
        @Argument(help: "The bundle ID.") var bundleID: String
        @Argument(help: "development or production.") var environment: String

        func run() async throws {
            let path = "/v1/apps/\(encoded(bundleID))/\(encoded(environment))/topics"
            client.show(try await client.call("GET", path, query: page.query), ["topic", "followers"])
        }
    }
}
