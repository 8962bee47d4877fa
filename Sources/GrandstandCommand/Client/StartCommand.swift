internal import ArgumentParser
internal import GrandstandClient

/// `grandstand start`: the push that starts an event's activity for everyone who follows.
struct StartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Starts an event's Live Activity for everyone who follows.",
        subcommands: [Preview.self, Now.self, Show.self, Stop.self])

    /// Whose start.
    struct Target: ParsableArguments {
        @Argument(help: "The event key.") var key: String
    }

    struct Preview: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Counts who would get it; sends nothing.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { try await client.show(.startEvent(target.key, dryRun: true)) }
    }

    struct Now: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Starts it now instead of at its time; lets one that was stopped go on.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { try await client.show(.startEvent(target.key)) }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows what has become of it.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { try await client.show(.getStart(target.key)) }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Stops what of it has not gone.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { try await client.send(.stopStart(target.key)) }
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
        @OptionGroup var target: AppOptions

        func run() async throws { try await client.list(.listTopics(in: target.app), page, ["topic", "followers"]) }
    }
}
